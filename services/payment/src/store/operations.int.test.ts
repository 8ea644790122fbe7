import { join } from "node:path";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, openTestDatabase, rowsRead, type TestDatabase } from "@wonrail/kit/testing";
import { claimKeys } from "../commands/claimKeys";
import {
  type Answered,
  type Claim,
  type Claimed,
  countOpenOperations,
  deleteOldOperations,
  findOperationByKey,
  releaseOperation,
  saveAnswers,
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
/** Which is the owner's to do. */
async function analyze(): Promise<void> {
  const owner = openTestDatabase(database.ownerUrl, "payment", { max: 1 });
  await owner.run(sql`analyze operations`);
  await owner.close();
}

const letGo = (of: Claimed) => releaseOperation(database.db, of, of.aloneSince!);
const abandonedFor = (ms: number) => tx(database.db, (tx) => takeAbandonedOperations(tx, ms, 10));

test("an operation is not abandoned before its time, and one that was let go never is", async () => {
  const [open, ...released] = await claim("open", "released", "another");
  for (const one of released) await letGo(one);
  expect(await abandonedFor(HOUR_MS)).toEqual([]);
  await database.db.run(sql`update operations set updated_at = updated_at - interval '61 minutes'`);
  expect((await abandonedFor(HOUR_MS)).map(({ operationId }) => operationId)).toEqual([open!.operationId]);
  // Another replica leaves it alone for as long again.
  expect(await abandonedFor(HOUR_MS)).toEqual([]);
});

test("an operation of a clock that was set back since is abandoned after as long a time as any other", async () => {
  const [open] = await claim("open");
  await database.db.run(sql`update operations set updated_at = updated_at + interval '61 minutes'`);
  expect((await abandonedFor(HOUR_MS)).map(({ operationId }) => operationId)).toEqual([open!.operationId]);
  expect(await abandonedFor(HOUR_MS)).toEqual([]);
});

test("what is open is counted from when it was taken on, also by a clock that was set back since, and among the few that are open", async () => {
  const [released, ahead] = await claim("released", "ahead", "another");
  const counted = () => countOpenOperations(database.db, HOUR_MS);
  expect(await counted()).toBe(0);
  await letGo(released!);
  await database.db.run(sql`
    update operations set created_at = created_at + case when operation_id = ${ahead!.operationId} then 1 else -1 end * interval '61 minutes'`);
  expect(await counted()).toBe(2);
  expect(await abandonedFor(0)).toHaveLength(2);
  expect(await counted()).toBe(2);
  // What is taken up again begins now.
  await claim("released");
  expect(await counted()).toBe(2);

  await database.db.run(sql`
    insert into operations select (jsonb_populate_record(o, jsonb_build_object(
      'operation_id', operation_id || n, 'idempotency_key', 'done' || n, 'state', 'DONE', 'answer', '\\x00'))).*
    from operations o, generate_series(1, 2000) as n where idempotency_key = 'another'`);
  await analyze();
  const read = await rowsRead(database.db, "operations", async (tx) => {
    expect(await countOpenOperations(tx, HOUR_MS)).toBe(2);
  });
  expect(read).toBeLessThan(20);
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

test("answers are saved by the key, also in a session that has known the table when it was small", async () => {
  const answered = (of: Claimed[]): Answered[] =>
    of.map(({ operationId }) => ({ orgId, operationId, state: "DONE", answer: Buffer.from("answer") }));
  const save = (...of: Claimed[]) => tx(database.db, async (tx) => saveAnswers(tx, answered(of)));
  // A plan is kept from its sixth use on.
  const few = await claim("a", "b", "c", "d", "e", "f", "g");
  await analyze();
  for (const one of few) await save(one);

  const many = await claim(...Array.from({ length: 2_000 }, (_, number) => `key-${number}`));
  const some = many.slice(0, 10);
  const read = await rowsRead(database.db, "operations", async (tx) => saveAnswers(tx, answered(some)));
  // Who plans looks at the ends of the key, too; who reads the table, at all of it.
  expect(read).toBeGreaterThanOrEqual(some.length);
  expect(read).toBeLessThan(many.length / 4);

  await expect(save(some[0]!)).rejects.toMatchObject({ code: "23514" });
  await expect(save(many[10]!, { ...few[0]!, operationId: newId("chg") })).rejects.toMatchObject({
    code: "22012",
  });
  expect(
    await findOperationByKey(database.db, { orgId, kind: "CHARGE", idempotencyKey: "key-10" }),
  ).toMatchObject({
    answer: null,
  });
});
