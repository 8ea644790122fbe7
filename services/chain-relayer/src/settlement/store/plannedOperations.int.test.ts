import { sql } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { freshDatabase } from "../../testing/database";
import { OPERATOR } from "../../testing/chainDouble";
import { holdOf, operationOf, statesOf, ingestOperations, ingestExpiredHold } from "../../testing/operations";
import { planOperations } from "../commands/planOperations";
import {
  countPlannedOperations,
  listPlannedOperations,
  postpone,
  postponeRefused,
} from "./plannedOperations";
import { acquireLease } from "../../sender/store/transactions";

const database = freshDatabase();

test("expired holds take no room from sendable operations", async () => {
  await ingestExpiredHold(database.db, holdOf());
  await ingestOperations(database.db, [operationOf()]);
  await planOperations(
    database.db,
    (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  expect(await listPlannedOperations(database.db, 10)).toHaveLength(1);
  expect(await countPlannedOperations(database.db)).toBe(1);
});

test("an operation that custody refuses backs off up to a minute, takes no room and keeps its place", async () => {
  const [refused, other] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [refused]);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
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

  await ingestOperations(database.db, [other]);
  await planOperations(database.db, lease);
  await database.db.run(sql`update operations set retry_at = now()`);
  expect(await countPlannedOperations(database.db)).toBe(1);
  const listed = await listPlannedOperations(database.db, 10);
  expect(listed.map(({ ledgerRef }) => ledgerRef)).toEqual([refused.ledgerRef, other.ledgerRef]);
});

test("among many refused operations the longest due go first, in the order of their turns", async () => {
  const refused = Array.from({ length: 250 }, () => operationOf());
  await ingestOperations(database.db, refused);
  await planOperations(
    database.db,
    (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  await postponeRefused(database.db, refused, "custody_key_unavailable");
  // A later turn means a longer due time.
  await database.db.run(sql`
    update operations set retry_at = now() - make_interval(secs => (turn - (select min(turn) from operations))::integer)`);
  const listed = await listPlannedOperations(database.db, 10);
  const byTurn = await database.db.query<{ ledger_ref: string }>(
    sql`select ledger_ref from operations order by turn offset 50`,
  );
  expect(listed.map(({ ledgerRef }) => ledgerRef)).toEqual(byTurn.map((row) => row.ledger_ref));
});

test("an operation that custody refuses keeps that reason while gas is too expensive", async () => {
  const [refused, other] = [operationOf(), operationOf()];
  await ingestOperations(database.db, [refused, other]);
  await planOperations(
    database.db,
    (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!,
  );
  await postponeRefused(database.db, [refused], "custody_key_unavailable");
  await postpone(database.db, [refused, other], "fee_above_cap", 3_000);
  expect(await statesOf(database.db, [refused, other])).toEqual([
    "PLANNED custody_key_unavailable",
    "PLANNED fee_above_cap",
  ]);
});

test("returned operations take at most a quarter of a batch while others are ready", async () => {
  const refused = Array.from({ length: 400 }, () => operationOf());
  await ingestOperations(database.db, refused);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  await cameBack("AccountBlocked");
  const others = Array.from({ length: 300 }, () => operationOf());
  await ingestOperations(database.db, others);
  await planOperations(database.db, lease);

  const ofOthers = new Set(others.map(({ ledgerRef }) => ledgerRef));
  const listed = await listPlannedOperations(database.db, 200);
  expect(listed.map(({ ledgerRef }) => ofOthers.has(ledgerRef))).toEqual([
    ...Array<boolean>(50).fill(false),
    ...Array<boolean>(150).fill(true),
  ]);
  // Without others they fill the batch.
  await database.db.run(sql`update operations set retry_at = now() + interval '1 hour' where attempts = 0`);
  expect(await listPlannedOperations(database.db, 200)).toHaveLength(200);
});

test("returned operations take no room from operations to plan", async () => {
  await ingestOperations(database.db, [operationOf()]);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  await planOperations(database.db, lease);
  await cameBack("AccountBlocked");
  expect(await countPlannedOperations(database.db)).toBe(0);
});

test.each([
  ["custody_over_wallet_limit", "holds up what leaves that wallet", ["WAITING held_up", "PLANNED"]],
  ["custody_signed_otherwise", "holds up nothing", ["PLANNED", "PLANNED"]],
  ["custody_leg_over_limit", "holds up nothing", ["PLANNED", "PLANNED"]],
  ["custody_key_unavailable", "holds up the whole organisation", ["WAITING", "WAITING"]],
])("a thousand operations refused for %s: it %s", async (reason, _what, expected) => {
  const walletId = newId("wal");
  const refused = Array.from({ length: 1_000 }, () => operationOf(walletId));
  await ingestOperations(database.db, refused);
  const lease = (await acquireLease(database.db, OPERATOR.address, "this process", 60_000))!;
  for (let looks = 0; looks < 3; looks += 1) await planOperations(database.db, lease);
  await postponeRefused(database.db, refused, reason);
  const [next, other] = [operationOf(walletId), operationOf()];
  await ingestOperations(database.db, [next, other]);
  await planOperations(database.db, lease);
  expect(await statesOf(database.db, [next, other])).toEqual(expected);
});

/** Marks all planned operations as sent and refused by the chain. */
async function cameBack(reason: string): Promise<void> {
  await database.db.run(sql`
    update operations set attempts = 1, wait_reason = ${reason}, retry_at = now() where state = 'PLANNED'`);
}
