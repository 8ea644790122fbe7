import { type Sql, sql, tx } from "@wonrail/kit/db";
import { planOperations } from "../commands/planOperations";
import { OPERATOR } from "../../testing/chainDouble";
import { freshDatabase } from "../../testing/database";
import { signWaitingOperations, operationOf, statesOf, ingestOperations } from "../../testing/operations";
import {
  type Confirmation,
  findByOperationIds,
  markConfirmed,
  markInFlight,
  replanOperations,
} from "./operations";
import { listPlannedOperations } from "./plannedOperations";
import { acquireLease } from "../../sender/store/transactions";

const database = freshDatabase();

test("a failed operation stays failed, and a confirmed one is reported once and not sent again", async () => {
  const [failed, settled] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [failed, settled]);
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
  await replanOperations(database.db, [failed, settled], "not_executed", 0);
  expect(await statesOf(database.db, [failed, settled])).toEqual(["FAILED", "CONFIRMED"]);
});

test.each<[string, string, Sql]>([
  ["given up", "FAILED", sql`state = 'FAILED', failure_reason = 'expired', proof_block_hash = '0x1'`],
  [
    "sent",
    "IN_FLIGHT",
    sql`state = 'IN_FLIGHT', transaction_id = (select max(transaction_id) from transactions)`,
  ],
])(
  "what was %s while its writer stood still goes in no transaction, nor what was to go with it",
  async (_, state, change) => {
    const { db } = database;
    await ingestOperations(db, [operationOf()]);
    await signWaitingOperations(db, OPERATOR, { nonce: 0n });
    const operations = [operationOf(), operationOf()];
    await ingestOperations(db, operations);
    await planOperations(db, (await acquireLease(db, OPERATOR.address, "this process", 60_000))!);
    const planned = await listPlannedOperations(db, 10);
    expect(planned).toHaveLength(2);
    await db.run(sql`update operations set ${change} where ledger_ref = ${operations[0]!.ledgerRef}`);
    const { id } = await db.one<{ id: bigint }>(sql`select max(transaction_id) as id from transactions`);
    const sending = tx(db, (tx) => markInFlight(tx, planned, id, "0x2"));
    await expect(sending).rejects.toThrow("another replica sent an operation meanwhile");
    expect(await statesOf(db, operations)).toEqual([state, "PLANNED"]);
  },
);
