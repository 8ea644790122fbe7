import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { freshDatabase } from "../../testing/database";
import { operationOf, ingestOperations } from "../../testing/operations";
import { getOperations } from "./getOperations";

const database = freshDatabase();

test("an operation is open until it is final, and visible to its own organisation only", async () => {
  const states = ["WAITING", "PLANNED", "IN_FLIGHT", "CONFIRMED", "FAILED"];
  const operations = states.map(() => operationOf());
  await ingestOperations(database.db, operations);
  for (const [index, { ledgerRef }] of operations.entries())
    await database.db.run(sql`
      update operations set state = ${states[index]!}, tx_hash = '0x1', block_number = 1, block_hash = '0x1', failure_reason = 'expired',
        proof_block_number = 1, proof_block_hash = '0x1', proof_block_time = 1
      where ledger_ref = ${ledgerRef}`);
  const found = await getOperations(database, [
    ...operations,
    { orgId: newId("org"), ledgerRef: operations[3]!.ledgerRef },
    { orgId: operations[0]!.orgId, ledgerRef: newId("trf") },
  ]);
  const statuses = new Map(found.map(({ ledgerRef, status }) => [ledgerRef, status]));
  expect(operations.map(({ ledgerRef }) => statuses.get(ledgerRef))).toEqual([
    ...["OPEN", "OPEN", "OPEN"],
    ...["CONFIRMED", "FAILED"],
  ]);
  expect(found).toHaveLength(5);
});
