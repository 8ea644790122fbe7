import { sql, tx } from "@wonrail/kit/db";
import { freshDatabase } from "../commands/testing/database";
import { OPERATOR } from "../commands/testing/chainDouble";
import { operationOf, statesOf, takeIn } from "../commands/testing/operations";
import { planOperations } from "../commands/planOperations";
import {
  type Confirmation,
  countPlannedOperations,
  findByOperationIds,
  listPlannedOperations,
  markConfirmed,
  postpone,
  postponeRefused,
  putBack,
} from "./operations";
import { holdLease } from "./transactions";

const database = freshDatabase();

test("holds whose time is over take no room from what may go, however long their proof takes", async () => {
  const over = operationOf(undefined, { kind: "INTENT_KIND_PLACE_HOLD", expiresAt: new Date(0) });
  await takeIn(database.db, [over, operationOf()]);
  await planOperations(
    database.db,
    (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  expect(await listPlannedOperations(database.db, 10)).toHaveLength(1);
  expect(await countPlannedOperations(database.db)).toBe(1);
});

test("what custody refuses waits twice as long each time and a minute at most, takes no room, and keeps its place in the order", async () => {
  const [refused, other] = [operationOf(), operationOf()];
  await takeIn(database.db, [refused]);
  const lease = (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  const waits: number[] = [];
  for (let asked = 0; asked < 6; asked += 1) {
    await postponeRefused(database.db, [refused], "custody_key_unavailable");
    const { seconds } = await database.db.one<{ seconds: number }>(sql`
      select extract(epoch from retry_at - updated_at)::float8 as seconds from operations`);
    waits.push(seconds);
  }
  expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
  expect(await listPlannedOperations(database.db, 10)).toEqual([]);

  await takeIn(database.db, [other]);
  await planOperations(database.db, lease);
  await database.db.run(sql`update operations set retry_at = now()`);
  expect(await countPlannedOperations(database.db)).toBe(1);
  const listed = await listPlannedOperations(database.db, 10);
  expect(listed.map(({ ledgerRef }) => ledgerRef)).toEqual([refused.ledgerRef, other.ledgerRef]);
});

test("of more refused operations than go along, those that have been due longest go, in the order of their turns", async () => {
  const refused = Array.from({ length: 250 }, () => operationOf());
  await takeIn(database.db, refused);
  await planOperations(
    database.db,
    (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  await postponeRefused(database.db, refused, "custody_key_unavailable");
  // The later its turn, the longer it is due.
  await database.db.run(sql`
    update operations set retry_at = now() - make_interval(secs => (turn - (select min(turn) from operations))::integer)`);
  const listed = await listPlannedOperations(database.db, 10);
  const byTurn = await database.db.query<{ ledger_ref: string }>(
    sql`select ledger_ref from operations order by turn offset 50`,
  );
  expect(listed.map(({ ledgerRef }) => ledgerRef)).toEqual(byTurn.map((row) => row.ledger_ref));
});

test("while gas is too dear, what custody refuses keeps its reason", async () => {
  const [refused, other] = [operationOf(), operationOf()];
  await takeIn(database.db, [refused, other]);
  await planOperations(
    database.db,
    (await holdLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  await postponeRefused(database.db, [refused], "custody_key_unavailable");
  await postpone(database.db, [refused, other], "fee_above_cap", 3_000);
  expect(await statesOf(database.db, [refused, other])).toEqual([
    "PLANNED custody_key_unavailable",
    "PLANNED fee_above_cap",
  ]);
});

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
