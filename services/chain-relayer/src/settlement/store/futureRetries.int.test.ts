import { type Database, sql, tx } from "@wonrail/kit/db";
import { newId } from "@wonrail/kit/contract/ids";
import { freshDatabase } from "../../testing/database";
import { OPERATOR } from "../../testing/chainDouble";
import { operationOf, ingestOperations } from "../../testing/operations";
import { bookingOf } from "../../deposits/domain/deposits";
import { planOperations } from "../commands/planOperations";
import { insertDeposits, listSeenDeposits, postponeDeposit } from "../../deposits/store/deposits";
import { clampFutureRetries } from "./futureRetries";
import { listPlannedOperations, postpone, postponeRefused } from "./plannedOperations";
import { takeDueRecords, takeWatchedRecords } from "../../records/store/records";
import { acquireLease } from "../../sender/store/transactions";

const database = freshDatabase();

test("a database clock that is set back delays no retry for as long", async () => {
  const { db } = database;
  const [first, again, refused] = [operationOf(), operationOf(), operationOf()];
  await ingestOperations(db, [first, again, refused]);
  await planOperations(db, (await acquireLease(db, OPERATOR.address, "this process", 60_000))!);
  await postpone(db, [first, again], "fee_above_cap", 3_000);
  await db.run(sql`update operations set attempts = 1 where ledger_ref = ${again.ledgerRef}`);
  await postponeRefused(db, [refused], "custody_key_unavailable");
  await postponedDeposit(db);
  await startedRecord(db);

  // No retry is due yet, and none is too far ahead.
  expect(await clampFutureRetries(db)).toBe(0);
  expect(await due(db)).toEqual({ operations: [], deposits: 0, records: 0 });

  await setClockBack(db, "1 hour");
  expect((await due(db)).operations).toEqual([first.ledgerRef]);
  expect(await clampFutureRetries(db)).toBe(4);
  const all = [first, again, refused].map(({ ledgerRef }) => ledgerRef);
  expect(await due(db)).toEqual({ operations: all.sort(), deposits: 1, records: 1 });
  expect(await clampFutureRetries(db)).toBe(0);
});

test("a record keeps its own future time", async () => {
  const { db } = database;
  await startedRecord(db);
  await db.run(sql`update records set run = 'WAITING', run_at = now() + interval '1 day'`);
  expect(await clampFutureRetries(db)).toBe(0);
});

test("a look-up within the hour keeps its time, and a later one is moved to now", async () => {
  const { db } = database;
  await startedRecord(db);
  await db.run(
    sql`update records set run = 'WATCHED', payment_type = 'INSTANT', scheduled_at = null, tx_hash = '0x1',
      run_at = now() + interval '1 hour'`,
  );
  expect(await clampFutureRetries(db)).toBe(0);
  await setClockBack(db, "2 days");
  expect(await clampFutureRetries(db)).toBe(1);
  expect(await tx(db, (tx) => takeWatchedRecords(tx, 5_000, { limit: 10, except: [] }))).toHaveLength(1);
});

async function due(db: Database) {
  const operations = await listPlannedOperations(db, 10);
  const records = await tx(db, (tx) => takeDueRecords(tx, 60_000, 10));
  return {
    operations: operations.map(({ ledgerRef }) => ledgerRef).sort(),
    deposits: (await listSeenDeposits(db, 10)).length,
    records: records.length,
  };
}

/** Moves stored times ahead, as a clock that was set back sees them. */
async function setClockBack(db: Database, by: string): Promise<void> {
  await db.run(
    sql`update operations set retry_at = retry_at + ${by}::interval, updated_at = updated_at + ${by}::interval`,
  );
  await db.run(sql`update deposits set retry_at = retry_at + ${by}::interval`);
  await db.run(sql`update records set run_at = run_at + ${by}::interval`);
}

async function postponedDeposit(db: Database): Promise<void> {
  const place = { txHash: `0x${"1".repeat(64)}`, logIndex: 3, blockNumber: 7n, blockHash: "0x7" };
  const to = { orgId: newId("org"), walletId: newId("wal"), fromAddress: `0x${"a".repeat(40)}` };
  const units = 5_000_000n;
  const deposit = { ...place, ...to, units, ledgerRef: newId("opn"), ...bookingOf(units) };
  await tx(db, (tx) => insertDeposits(tx, [deposit]));
  await postponeDeposit(db, place, "SYS_002");
}

async function startedRecord(db: Database): Promise<void> {
  await db.run(sql`
    insert into records (org_id, record_id, from_network, to_network, payment_type, from_address, to_address, amount, scheduled_at,
      status, run, run_at, version, request_id, traceparent, created_at, updated_at)
    values ('org_1', gen_random_uuid(), 'WON', 'WON', 'SCHEDULED', '0xa', '0xb', 1, now(), 'PENDING', 'STARTED',
      now() + interval '15 seconds', 1, 'req_1', '', now(), now())`);
}
