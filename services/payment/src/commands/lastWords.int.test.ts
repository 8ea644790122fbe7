import { join } from "node:path";
import { sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { createTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { type SettlementChange } from "../store/settlements";
import { recordSettlements } from "./recordSettlements";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ schema: "payment", migrations: join(__dirname, "../../migrations") });
});
afterAll(() => database.drop());

const words = {
  submitted: { status: "SUBMITTED", txHash: "0xa", blockNumber: null },
  confirmed: { status: "CONFIRMED", txHash: "0xa", blockNumber: 7n },
  failed: {
    ...{ status: "FAILED", txHash: null, blockNumber: null },
    failure: { reason: "expired", proofBlockNumber: 9n, proofBlockHash: "0xb" },
  },
} satisfies Record<string, Partial<SettlementChange>>;

/** Each list is a batch. */
test.each<[last: string, batches: (keyof typeof words)[][]]>([
  ["FAILED", [["submitted"], ["failed"], ["submitted"], ["confirmed"]]],
  ["FAILED", [["submitted", "failed", "submitted", "confirmed"]]],
  ["CONFIRMED", [["confirmed"], ["failed"], ["submitted"]]],
  ["CONFIRMED", [["confirmed", "failed", "submitted"]]],
])("the last word is %s, whatever comes behind it: %j", async (last, batches) => {
  const [orgId, ledgerRef] = [newId("org"), newId("trf")];
  for (const batch of batches) {
    const changes = batch.map((word) => ({
      ...{ orgId, ledgerRef, network: "N", requestId: newId("req"), traceparent: "" },
      ...words[word],
    }));
    await tx(database.db, (tx) => recordSettlements(tx, changes));
  }
  const kept = sql`select status, failure_reason as reason from settlements where ledger_ref = ${ledgerRef}`;
  expect(await database.db.one(kept)).toEqual({ status: last, reason: last === "FAILED" ? "expired" : null });
});
