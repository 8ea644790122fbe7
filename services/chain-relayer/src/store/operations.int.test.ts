import { sql, tx } from "@wonrail/kit/db";
import { freshDatabase } from "../commands/testing/database";
import { operationOf, statesOf, takeIn } from "../commands/testing/operations";
import { type Confirmation, findByOperationIds, markConfirmed, putBack } from "./operations";

const database = freshDatabase();

test("what was given up stays so; what is confirmed is told once, and not sent again", async () => {
  const [failed, settled] = [operationOf(), operationOf()];
  await takeIn(database.db, [failed, settled]);
  await database.db.run(sql`
    update operations set state = 'FAILED', failure_reason = 'expired', proof_block_hash = '0x1'
    where ledger_ref = ${failed.ledgerRef}`);
  const found = await findByOperationIds(database.db, [failed.operationId, settled.operationId]);
  const block = { txHash: "0x2", blockNumber: 2n, blockHash: "0x3", gasUsed: 1n };
  const confirm = () =>
    tx(database.db, (tx) =>
      markConfirmed(
        tx,
        [...found.values()].map((operation): Confirmation => ({ operation, ...block })),
      ),
    );
  expect((await confirm()).map(({ operation }) => operation.ledgerRef)).toEqual([settled.ledgerRef]);
  expect(await confirm()).toEqual([]);
  await putBack(database.db, [failed, settled], "not_executed", 0);
  expect(await statesOf(database.db, [failed, settled])).toEqual(["FAILED", "CONFIRMED"]);
});
