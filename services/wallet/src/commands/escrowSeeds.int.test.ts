import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { testOperator } from "@wonrail/kit/testing";
import { WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { openWorld, type World } from "./testing/world";

let folder: string;
let world: World;
let orgId: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "escrow-"));
  world = await openWorld({ SEED_ESCROW_FOLDER: folder });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  orgId = newId("org");
});

test("an organisation whose seed a restore lost gets the same seed from the escrow", async () => {
  await create("kim");
  const before = await stored();
  await lose();
  await create("lee");
  expect(await stored()).toEqual(before);
});

test("concurrent first requests leave one seed in the escrow and the same in the database", async () => {
  await Promise.all(Array.from({ length: 10 }, (_, user) => create(`user ${user}`)));
  expect(readdirSync(folder).filter((name) => name.includes(orgId))).toEqual([`${orgId}.json`]);
  expect(read()).toEqual(await stored());
});

test("the job stores the seals of a new key-encryption key, and seeds that the escrow lacks", async () => {
  await create("kim");
  world.mountKeks("k1", "k2");
  await world.app.resealSeeds(testOperator());
  expect(await world.app.escrowSeeds(new AbortController().signal)).toBeGreaterThan(0);
  expect(read()).toEqual(await stored());
  expect(read().kekId).toBe("k2");
  rmSync(join(folder, `${orgId}.json`));
  await world.app.escrowSeeds(new AbortController().signal);
  expect(read()).toEqual(await stored());
  expect(await world.app.escrowSeeds(new AbortController().signal)).toBe(0);
});

test("the job fails and keeps the escrow's seed when the database has another one", async () => {
  await create("kim");
  const kept = read();
  await lose();
  rmSync(join(folder, `${orgId}.json`));
  await create("max");
  const replaced = read();
  await world.database.db.run(sql`
    update seeds set sealed = ${Buffer.from(kept.sealed, "base64")}, kek_id = ${kept.kekId} where org_id = ${orgId}`);
  await expect(world.app.escrowSeeds(new AbortController().signal)).rejects.toThrow("another seed");
  expect(read()).toEqual(replaced);
  await world.database.db.run(sql`
    update seeds set sealed = ${Buffer.from(replaced.sealed, "base64")}, kek_id = ${replaced.kekId} where org_id = ${orgId}`);
});

test("no wallet is created while the escrow cannot be written", async () => {
  rmSync(folder, { recursive: true });
  await expect(create("kim")).rejects.toMatchObject({ code: "SYS_002" });
  expect(await world.database.db.query(sql`select from seeds where org_id = ${orgId}`)).toEqual([]);
});

async function create(userId: string) {
  const request = { orgId, userId, walletType: WalletType.NORMAL, metadata: {} };
  return (await world.client.createWallet(request)).wallet!;
}

/** Deletes the organisation's rows, as a restore to an earlier time does. */
async function lose(): Promise<void> {
  await world.database.db.run(sql`delete from wallets where org_id = ${orgId}`);
  await world.database.db.run(sql`delete from seeds where org_id = ${orgId}`);
}

interface Copy {
  orgId: string;
  version: number;
  kekId: string;
  sealed: string;
}

function read(): Copy {
  return JSON.parse(readFileSync(join(folder, `${orgId}.json`), "utf8")) as Copy;
}

async function stored(): Promise<Copy> {
  const row = await one<{ version: number; kek_id: string; sealed: Buffer }>(
    sql`select version, kek_id, sealed from seeds where org_id = ${orgId}`,
  );
  return { orgId, version: row.version, kekId: row.kek_id, sealed: row.sealed.toString("base64") };
}

function one<T extends object>(statement: ReturnType<typeof sql>): Promise<T> {
  return world.database.db.one<T>(statement);
}
