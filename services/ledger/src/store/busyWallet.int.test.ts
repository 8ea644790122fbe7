import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import { won, ZERO_WON } from "@wonrail/kit/contract/money";
import { rawSql, sql, type Queryable } from "@wonrail/kit/db";
import { rowsRead } from "@wonrail/kit/testing";
import { type TestLedger } from "../commands/testing/ledger";
import { type Account } from "../domain/types";
import { listJournal } from "../queries/listJournal";
import { findOrgSequenceAt } from "./lines";
import { findBalanceBefore, findSequenceAt, listBalancesBefore, listSequences } from "./statements";
import { startFilledLedger } from "./testing/filledLedger";

// A busy wallet among many with a line each. PostgreSQL plans a prepared statement for any wallet
// after its first uses, and then does not know that this one has many lines.

const LINES = 20_000;
const ALL_LINES = { first: 1n, last: BigInt(LINES) };
const PAGE = { offset: 0, limit: 20 };
const DAYS = Array.from({ length: 92 }, (_, day) => new Date(Date.now() - day * 86_400_000));

const busy: Account = {
  ...{ number: 1n, id: newId("wal"), orgId: newId("org"), type: "NORMAL", userId: "busy" },
  ...{ openedAtMs: Date.now(), closedAtMs: null, balanceWon: won(BigInt(LINES)), heldWon: ZERO_WON },
  ...{ sequence: BigInt(LINES), limitDay: 0, limitUsedWon: ZERO_WON, blockTypes: 0 },
  ...{ frozenByChain: "NONE", frozenByOperator: "NONE" },
};

let ledger: TestLedger;
let month: string;

beforeAll(async () => {
  ({ ledger, month } = await startFilledLedger(fill));
}, 60_000);
afterAll(() => ledger.close());

/** An entry with one line for each line of the busy wallet, and one for each of many wallets. */
async function fill(owner: Queryable): Promise<void> {
  await owner.run(sql`
    insert into entries (org_id, id, request_prefix, kind, content_hash, posted_at, org_sequence, account_numbers, sequences)
    select case when is_busy then ${idToUuid(busy.orgId)}::uuid else md5(n::text)::uuid end,
      (left(uuid_from(now())::text, 18) || case when is_busy then '-8001-' else '-8002-' end || lpad(to_hex(n), 12, '0'))::uuid,
      'trf', 6, gen_random_uuid(), now() - (${LINES} - n) * interval '1 minute', case when is_busy then n else 1 end,
      array[case when is_busy then 1 else n + 1 end], array[case when is_busy then n else 1 end]
    from generate_series(1, ${LINES}) as n, unnest(array[true, false]) as is_busy`);
  await owner.run(sql`
    insert into postings (account_number, sequence, amount_won, balance_after_won, entry_id, org_id, type)
    select account_numbers[1], sequences[1], 1, sequences[1], id, org_id, 1 from entries`);
  await owner.run(sql`insert into journal_heads values (${idToUuid(busy.orgId)}, ${LINES})`);
  await owner.run(rawSql("analyze entries"));
  await owner.run(rawSql("analyze postings"));
}

/** Rows that the work reads with plans for any wallet. */
function readWithAnyPlan(table: string, work: (db: Queryable) => Promise<unknown>): Promise<number> {
  return rowsRead(ledger.database.db, `${table}_${month}`, async (tx) => {
    await tx.run(sql`set local plan_cache_mode = force_generic_plan`);
    await work(tx);
  });
}

test.each<[string, (db: Queryable) => Promise<unknown>]>([
  ["balances of 92 days", (db) => listBalancesBefore(db, busy, DAYS)],
  ["line of a time", (db) => findSequenceAt(db, busy, DAYS[5]!.getTime())],
  ["balance before a line", (db) => findBalanceBefore(db, busy, 7n)],
  ["oldest page", (db) => listSequences(db, busy, ALL_LINES, { ...PAGE, oldestFirst: true })],
  ["newest page", (db) => listSequences(db, busy, ALL_LINES, { ...PAGE, oldestFirst: false })],
])("the %s of a busy wallet is read without its other lines", async (_, read) => {
  expect(await readWithAnyPlan("postings", read)).toBeLessThan(LINES / 5);
});

test("the first entry of a time is found without the rest of a large organisation's journal", async () => {
  const read = await readWithAnyPlan("entries", async (db) => {
    expect(await findOrgSequenceAt(db, busy.orgId, BigInt(LINES), Date.now() - 600_000)).toBeGreaterThan(
      LINES - 12,
    );
  });
  expect(read).toBeLessThan(LINES / 5);
});

test("a page of a large organisation's journal is read without the rest of it", async () => {
  const read = await readWithAnyPlan("entries", async (db) => {
    const { entries } = await listJournal(db, busy.orgId, 5n, 20);
    expect(entries.map(({ orgSequence }) => orgSequence)).toEqual(
      Array.from({ length: 20 }, (_, n) => BigInt(n + 6)),
    );
  });
  expect(read).toBeLessThan(LINES / 5);
});
