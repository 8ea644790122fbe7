import { newId } from "@wonrail/kit/contract/ids";
import { rawSql, sql, type Queryable } from "@wonrail/kit/db";
import { rowsRead } from "@wonrail/kit/testing";
import { type TestLedger } from "../commands/testing/ledger";
import { findRequestsById, findRequestsByReference, findRequestsOfCall } from "./searches";
import { startFilledLedger } from "./testing/filledLedger";
import { countMinutes } from "./traffic";

// Operators' statements on a journal with many entries. Each may read a small part of it.

const ENTRIES = 40_000;
/** Entries of one block range, which the small index names as a whole. */
const ENTRIES_OF_A_RANGE = 4_000;

let ledger: TestLedger;
let partition: string;

beforeAll(async () => {
  const filled = await startFilledLedger(fill);
  ledger = filled.ledger;
  partition = `entries_${filled.month}`;
}, 60_000);
afterAll(() => ledger.close());

/** A refused request each ten milliseconds until now, of a thousand organisations. */
async function fill(owner: Queryable, month: string): Promise<void> {
  await owner.run(sql`
    insert into entries (org_id, id, request_prefix, kind, content_hash, posted_at, reference, code, origin)
    select md5((n % 1000)::text)::uuid,
      (left(uuid_from(at)::text, 18) || '-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'pay', 7, gen_random_uuid(), at,
      'invoice ' || n, 'PAY_001', 'req_' || md5(n::text) || ' ' || md5('trace')
    from (
      select n, greatest(now() - (${ENTRIES} - n) * interval '10 milliseconds', (
        select from_at from journal_partitions where from_at <= now() and until_at > now())) as at
      from generate_series(1, ${ENTRIES}) as n) made
    order by n`);
  const { name } = await owner.one<{ name: string }>(sql`
    select i.indexrelid::regclass::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
    join pg_am a on a.oid = c.relam where i.indrelid = ${`entries_${month}`}::regclass and a.amname = 'brin'`);
  await owner.query(sql`select brin_summarize_new_values(${name}::regclass)`);
  await owner.run(rawSql(`analyze entries_${month}`));
}

const anEntry = () =>
  ledger.database.db.one<{ id: string; reference: string }>(sql`
    select 'pay_' || replace(id::text, '-', '') as id, reference from entries where reference = 'invoice 20000'`);

test("an id of any organisation is found without reading the journal", async () => {
  const { id } = await anEntry();
  const read = await rowsRead(ledger.database.db, partition, async (db) => {
    expect(await findRequestsById(db, id, 20)).toMatchObject([{ requestId: id, code: "PAY_001" }]);
  });
  expect(read).toBeLessThan(ENTRIES_OF_A_RANGE);
});

test("a reference of any organisation is found without reading the journal", async () => {
  const { id, reference } = await anEntry();
  const read = await rowsRead(ledger.database.db, partition, async (db) => {
    expect(await findRequestsByReference(db, reference, 20)).toMatchObject([{ requestId: id }]);
  });
  expect(read).toBeLessThan(10);
});

test("a call without entries is looked up in the entries of its time only", async () => {
  const callId = newId("req", Date.now() - 3_600_000);
  const read = await rowsRead(ledger.database.db, partition, async (db) => {
    expect(await findRequestsOfCall(db, callId, 20)).toEqual([]);
  });
  expect(read).toBeLessThan(ENTRIES_OF_A_RANGE);
});

test("counting a minute reads the entries of its time only", async () => {
  const { db } = ledger.database;
  await db.run(sql`
    insert into traffic_minutes (minute, entries, moved_won)
    values (date_trunc('minute', now() - interval '30 seconds') - interval '2 minutes', 0, 0)`);
  const read = await rowsRead(db, partition, async (db) => {
    expect(await countMinutes(db)).toBe(1);
  });
  expect(read).toBeLessThan(ENTRIES / 2);
});
