import { sql, tx } from "@wonrail/kit/db";
import { rowsRead } from "@wonrail/kit/testing";
import { analyze, freshDatabase } from "../../testing/database";
import { type Run } from "../domain/record";
import { takeDueRecords, takeWatchedRecords } from "./records";

const database = freshDatabase();
const LEASE_MS = 60_000;
const take = (limit: number) => tx(database.db, (tx) => takeDueRecords(tx, LEASE_MS, limit));

test("taking due records reads no waiting ones", async () => {
  for (const run of ["WAITING", "STARTED", "WATCHED"] as const) {
    await insert(run, 3_000, 3_600);
    await insert(run, 2, -5);
  }
  await analyze(database, "records");
  let taken = 0;
  const due = await rowsRead(database.db, "records", async (tx) => {
    taken += (await takeDueRecords(tx, LEASE_MS, 100)).length;
  });
  const watched = await rowsRead(database.db, "records", async (tx) => {
    taken += (await takeWatchedRecords(tx, LEASE_MS, { limit: 100, except: [] })).length;
  });
  expect(taken).toBe(6);
  expect(Math.max(due, watched)).toBeLessThan(30);
});

test("a full batch takes the records that have been due longest, whether started or not", async () => {
  for (const [run, seconds] of [
    ["STARTED", -4],
    ["WAITING", -3],
    ["STARTED", -2],
    ["WAITING", -1],
  ] as const)
    await insert(run, 1, seconds);
  const longest = [await take(1), await take(2), await take(2), await take(2)];
  expect(longest.map((records) => records.map(({ run }) => run).sort())).toEqual([
    ["STARTED"],
    ["STARTED", "WAITING"],
    ["WAITING"],
    [],
  ]);
});

/** Inserts this many records with a next look in this many seconds. */
async function insert(run: Run, count: number, seconds: number): Promise<void> {
  const paymentType = run === "WATCHED" ? "INSTANT" : "SCHEDULED";
  await database.db.run(sql`
    insert into records (org_id, record_id, from_network, to_network, payment_type, from_address, to_address, tx_hash, amount, scheduled_at,
      status, run, run_at, version, request_id, traceparent, created_at, updated_at)
    select 'org_1', gen_random_uuid(), 'WON', 'WON', ${paymentType}::text, '0xa', '0xb',
      case when ${paymentType} = 'INSTANT' then '0x' || gen_random_uuid() end, 1,
      case when ${paymentType} = 'SCHEDULED' then now() end, 'PENDING', ${run},
      now() + make_interval(secs => ${seconds}), 1, 'req_1', '', now(), now()
    from generate_series(1, ${count}::integer)`);
}
