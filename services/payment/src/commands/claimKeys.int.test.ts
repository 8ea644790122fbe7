import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { type Claim } from "../store/operations";
import { claimKeys } from "./claimKeys";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterAll(() => database.drop());

test("of those that take up at once what was let go, the first of the same request begins it, whoever else has its key", async () => {
  const orgId = newId("org");
  const claimOf = (body: number): Claim => ({
    ...{ orgId, operationId: newId("chg"), idempotencyKey: "k", bodyHash: Buffer.alloc(32, body) },
    input: { kind: "CHARGE", walletId: newId("wal"), amountWon: "1000", memo: null },
    ...{ requestId: newId("req"), traceparent: "" },
  });
  await claimKeys(database.db, [claimOf(1)]);
  await database.db.run(sql`update operations set state = 'RELEASED'`);
  const claimed = await claimKeys(database.db, [claimOf(2), claimOf(1), claimOf(1)]);
  // The first is another request, and is refused; the plan's unit is the second's.
  expect(claimed.map((one) => one.ok && one.value.isBegun)).toEqual([false, false, true]);
});

test("of two requests under one id and key what is claimed is what was written down, and the other is seen to be another", async () => {
  const operationId = newId("chg");
  const [one, other] = [1, 2].map((body): Claim => ({
    ...{ orgId: newId("org"), operationId, idempotencyKey: operationId, bodyHash: Buffer.alloc(32, body) },
    input: { kind: "CHARGE", walletId: newId("wal"), amountWon: `${body}000`, memo: null },
    ...{ requestId: newId("req"), traceparent: "" },
  })) as [Claim, Claim];
  other.orgId = one.orgId;
  const claimed = await claimKeys(database.db, [one, other]);
  const { body_hash: bodyHash, input } = await database.db.one<{ body_hash: Buffer; input: unknown }>(
    sql`select body_hash, input from operations where operation_id = ${operationId}`,
  );
  for (const each of claimed) expect(each).toMatchObject({ ok: true, value: { bodyHash, input } });
});
