import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { runAdmin } from "./admin";
import { openWorld, type World } from "./commands/testing/world";
import { openCurve } from "./keys/curve";
import { createKeyring } from "./keys/keyring";
import { fileKms } from "./keys/kms";

let world: World;
let orgIds: string[];

beforeEach(async () => {
  world = await openWorld();
  orgIds = [newId("org"), newId("org")].sort();
  for (const orgId of orgIds)
    await world.client.createWallet({ orgId, userId: "kim", walletType: WalletType.NORMAL, metadata: {} });
});
afterEach(() => world.close());

test("kek rotate seals every seed under the current key, and kek status tells of it", async () => {
  expect(await run("kek", "status")).toEqual({
    code: 0,
    out: "current key: k1\n  k1: 2 seeds, one was opened",
    err: "",
  });
  world.mountKeks("k1", "k2");
  expect(await run("kek", "rotate")).toEqual({
    code: 0,
    out: "  2 sealed again\n2 seeds are now under k2.",
    err: "",
  });
  expect(await run("kek", "status")).toMatchObject({
    code: 0,
    out: "current key: k2\n  k2: 2 seeds, one was opened",
  });
});

test("kek rotate fails while a seed does not open, and says whose: the old key must be kept", async () => {
  world.mountKeks("k1", "k2");
  await world.database.db.run(sql`
    update seeds set sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20)) where org_id = ${orgIds[1]!}`);
  const { code, out, err } = await run("kek", "rotate");
  expect([code, out]).toEqual([1, "  1 sealed again\n1 seeds are now under k2."]);
  expect(err).toContain(`1 seeds do not open and are as they were: ${orgIds[1]!}. Keep the old key`);
});

test("kek status fails when the key file has lost a key that seeds are under, and names it", async () => {
  world.mountKeks("k2");
  const { code, out, err } = await run("kek", "status");
  expect([code, out]).toEqual([
    1,
    "current key: k2\n  k1: 2 seeds, NOT OPENED: the key-encryption key k1 is not in the key file",
  ]);
  expect(err).toBe("Wallets under k1 cannot sign: give the key file that key back.");
});

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const keyring = createKeyring({ kms: fileKms(world.kekPath), curve: openCurve() });
  const code = await runAdmin(args, {
    ...{ db: world.database.db, keyring, operator: "operator:tester", patienceMs: 0 },
    ...{ out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) },
  });
  return { code, out: out.join("\n"), err: err.join("\n") };
}
