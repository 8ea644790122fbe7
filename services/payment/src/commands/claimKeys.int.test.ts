import { join } from "node:path";
import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/ids";
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
