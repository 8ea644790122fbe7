import { rmSync, writeFileSync } from "node:fs";
import { listOperatorActions } from "@wonrail/kit/admin";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { recordTerminal } from "@wonrail/kit/testing";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { runAdmin } from "./admin";
import { openWorld, type World } from "./commands/testing/world";

let world: World;
let orgIds: string[];

beforeEach(async () => {
  world = await openWorld();
  orgIds = [newId("org"), newId("org")].sort();
  for (const orgId of orgIds)
    await world.client.createWallet({ orgId, userId: "kim", walletType: WalletType.NORMAL, metadata: {} });
});
afterEach(() => world.close());

test("kek rotate seals every seed under the current key, and kek status shows it", async () => {
  expect(await run("kek", "status")).toEqual({
    code: 0,
    out: "current key: k1\n  k1: 2 seeds, one was opened\n",
    err: "",
  });
  world.mountKeks("k1", "k2");
  expect(await run("kek", "rotate", "--reason", "yearly")).toEqual({
    code: 0,
    out: "2 seeds are now under k2.\n",
    err: "",
  });
  expect(await listOperatorActions(world.database.db, { limit: 10 })).toMatchObject([
    { operator: "tester", reason: "yearly", subject: "key-encryption key k2" },
  ]);
  expect(await run("kek", "status")).toMatchObject({
    code: 0,
    out: "current key: k2\n  k2: 2 seeds, one was opened\n",
  });
});

test("kek rotate fails and names the organisation of a seed that cannot be decrypted", async () => {
  world.mountKeks("k1", "k2");
  await world.database.db.run(sql`
    update seeds set sealed = set_byte(sealed, 20, 255 - get_byte(sealed, 20)) where org_id = ${orgIds[1]!}`);
  const { code, out, err } = await run("kek", "rotate", "--reason", "yearly");
  expect([code, out]).toEqual([1, "1 seeds are now under k2.\n"]);
  expect(err).toContain(
    `1 seeds could not be decrypted and were not changed: ${orgIds[1]!}. Keep the old key`,
  );
});

test("kek status fails and names a key that is missing in the key file", async () => {
  world.mountKeks("k2");
  const { code, out, err } = await run("kek", "status");
  expect([code, out]).toEqual([
    1,
    "current key: k2\n  k1: 2 seeds, NOT OPENED: the key-encryption key k1 is not in the key file\n",
  ]);
  expect(err).toBe("Wallets under k1 cannot sign: add that key to the key file again.\n");
});

test.each([
  ["that is not there", undefined, "cannot be read: ENOENT"],
  ["that is none", "{", "is not JSON"],
])(
  "kek status and rotate say in a sentence that they cannot read a key file %s",
  async (_, text, problem) => {
    if (text === undefined) rmSync(world.kekPath);
    else writeFileSync(world.kekPath, text);
    for (const command of [["status"], ["rotate", "--reason", "yearly"]]) {
      const { code, out, err } = await run("kek", ...command);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toMatch(/^key-file: the file of key-encryption keys.+\n$/);
      expect(err).toContain(problem);
    }
  },
);

test("an unexpected error is not reported as a refusal", async () => {
  const broken = () => {
    throw new TypeError("out is not what it was");
  };
  await expect(runAdmin(["kek", "status"], { ...outside(), out: broken })).rejects.toThrow(TypeError);
});

function outside() {
  const { terminal, output } = recordTerminal();
  return { config: { WALLET_ADDRESS: world.address, USER: "tester" }, ...terminal, output, patienceMs: 0 };
}

async function run(...args: string[]) {
  const { output, ...rest } = outside();
  return { code: await runAdmin(args, rest), ...output };
}
