import { join } from "node:path";
import { openDatabase, rawSql, sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
import { createTestDatabase, eventually, type TestDatabase, testLog } from "@wonrail/kit/testing";
import { type Claim } from "../store/operations";
import { claimKeys } from "./claimKeys";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterAll(() => database.drop());

const orgId = newId("org");
const claimOf = (idempotencyKey: string): Claim => ({
  ...{ orgId, operationId: newId("chg"), idempotencyKey, bodyHash: Buffer.alloc(32) },
  input: { kind: "CHARGE", walletId: newId("wal"), amountWon: "1000", memo: null },
  ...{ requestId: newId("req"), traceparent: "" },
});

test("two replicas that are asked for the same keys in another order do not wait for each other in a circle", async () => {
  const options = { url: database.url, schema: "payment", applicationName: "replica", log: testLog() };
  const replicas = [openDatabase(options), openDatabase(options)];
  const claims = [["a", "m", "z"].map(claimOf), ["z", "m", "a"].map(claimOf)];
  // Somebody has the key in the middle until both have come to it, or to one that the other has.
  const { both } = await tx(database.db, async (tx) => {
    await tx.run(sql`
      insert into operations (org_id, operation_id, kind, idempotency_key, body_hash, input, state, request_id, traceparent)
      values (${orgId}, ${newId("chg")}, 'CHARGE', 'm', ${Buffer.alloc(32)}, '{}', 'CLAIMED', '', '')`);
    const both = replicas.map((db, index) => claimKeys(db, claims[index]!));
    await eventually(() => expectCount(`${REPLICAS} and wait_event_type = 'Lock'`, 2n));
    return { both };
  });
  const [first, second] = (await Promise.all(both)).map((outcomes) =>
    outcomes.map((outcome) => (outcome.ok ? outcome.value.operationId : outcome.error)),
  );
  expect(first).toEqual(second!.reverse());
  // What a connection has counted is told at the latest when it ends.
  await Promise.all(replicas.map((db) => db.close()));
  await eventually(() => expectCount(REPLICAS, 0n));
  await expectCount("pg_stat_database where datname = current_database() and deadlocks > 0", 0n);
}, 30_000);

const REPLICAS = "pg_stat_activity where application_name like 'replica%' and datname = current_database()";

async function expectCount(rows: string, count: bigint): Promise<void> {
  expect(await database.db.one(rawSql(`select count(*) from ${rows}`))).toEqual({ count });
}
