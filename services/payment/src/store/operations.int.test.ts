import { join } from "node:path";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { claimKeys } from "../commands/claimKeys";
import {
  type Claim,
  type Claimed,
  countAbandonedOperations,
  deleteOldOperations,
  findOperationByKey,
  releaseOperation,
  takeAbandonedOperations,
} from "./operations";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterEach(() => database.drop());

const orgId = newId("org");
const HOUR_MS = 3_600_000;
const claimOf = (idempotencyKey: string): Claim => ({
  ...{ orgId, operationId: newId("chg"), idempotencyKey, bodyHash: Buffer.alloc(32) },
  input: { kind: "CHARGE", walletId: "wal_1", amountWon: "1000", memo: null },
  ...{ requestId: newId("req"), traceparent: "" },
});

const claim = (...keys: string[]) => claimAll(keys.map(claimOf));

async function claimAll(claims: Claim[]): Promise<Claimed[]> {
  const outcomes = await claimKeys(database.db, claims);
  return outcomes.map((outcome) => {
    if (!outcome.ok) throw outcome.error;
    return outcome.value;
  });
}
const letGo = (of: Claimed) => releaseOperation(database.db, of, of.aloneSince!);
const abandonedFor = (ms: number) => tx(database.db, (tx) => takeAbandonedOperations(tx, ms, 10));

test("an operation is not abandoned before its time, and one that was let go never is", async () => {
  const [open, ...released] = await claim("open", "released", "another");
  for (const one of released) await letGo(one);
  expect(await abandonedFor(HOUR_MS)).toEqual([]);
  expect(await countAbandonedOperations(database.db, HOUR_MS)).toBe(0);
  await database.db.run(sql`update operations set updated_at = updated_at - interval '61 minutes'`);
  expect(await countAbandonedOperations(database.db, HOUR_MS)).toBe(1);
  expect((await abandonedFor(HOUR_MS)).map(({ operationId }) => operationId)).toEqual([open!.operationId]);
  // Another replica leaves it alone for as long again.
  expect(await abandonedFor(HOUR_MS)).toEqual([]);
});

test("an operation of a clock that was set back since is abandoned after as long a time as any other", async () => {
  const [open] = await claim("open");
  await database.db.run(sql`update operations set updated_at = updated_at + interval '61 minutes'`);
  expect(await countAbandonedOperations(database.db, HOUR_MS)).toBe(1);
  expect((await abandonedFor(HOUR_MS)).map(({ operationId }) => operationId)).toEqual([open!.operationId]);
  expect(await abandonedFor(HOUR_MS)).toEqual([]);
});

test("who has an operation does not let it go behind the back of the completer, which may be asking the ledger", async () => {
  const [open] = await claim("open");
  expect(await abandonedFor(0)).toHaveLength(1);
  expect(await letGo(open!)).toBe(false);
});

test("of two that take up at once what was let go none is alone with it, and the second one repeats the first", async () => {
  const [released] = await claim("released");
  await letGo(released!);
  const taken = await claim("released", "released");
  expect(taken.map(({ operationId, aloneSince, isBegun }) => [operationId, aloneSince, isBegun])).toEqual([
    [released!.operationId, null, false],
    [released!.operationId, null, true],
  ]);
});

test("a key is one organisation's and one command's, also when two ask at once under the same", async () => {
  const strangerId = newId("org");
  const claims = () => [claimOf("k"), { ...claimOf("k"), orgId: strangerId }];
  const [own, strangers] = await claimAll(claims());
  const again = await claimAll(claims());
  expect(again.map(({ operationId }) => operationId)).toEqual([own!.operationId, strangers!.operationId]);
  const find = (orgId: string, kind: "CHARGE" | "REFUND") =>
    findOperationByKey(database.db, { orgId, kind, idempotencyKey: "k" });
  expect(await find(orgId, "CHARGE")).toMatchObject({ operationId: own!.operationId });
  expect(await find(strangerId, "CHARGE")).toMatchObject({ operationId: strangers!.operationId });
  expect(await find(newId("org"), "CHARGE")).toBeUndefined();
  expect(await find(orgId, "REFUND")).toBeUndefined();
});

test("an operation whose outcome is open is never forgotten, however old it is", async () => {
  const [, released] = await claim("open", "released");
  await letGo(released!);
  await database.db.run(
    sql`update operations set created_at = now() - interval '40 days', updated_at = now() - interval '40 days'`,
  );
  const forget = (nowMs: number) =>
    tx(database.db, (tx) => deleteOldOperations(tx, { olderThanDays: 32, nowMs, limit: 10 }));
  // Only one of the two clocks says that it is old.
  expect(await forget(Date.now())).toBe(0);
  expect(await forget(Date.now() + 33 * 24 * HOUR_MS)).toBe(1);
  expect(await database.db.query(sql`select idempotency_key as key from operations`)).toEqual([
    { key: "open" },
  ]);
});
