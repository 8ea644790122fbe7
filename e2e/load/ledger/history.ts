import { rawSql, sql } from "@wonrail/kit/db";
import { idToUuid } from "@wonrail/kit/contract/ids";
import type { World } from "./world";

const CHUNK = 250_000;
const PROGRESS_EVERY = 20 * CHUNK;

/**
 * Fills the journal with past transfers as the engine would have posted them, by one statement per
 * table and chunk. Posting millions through the engine would take all day. `npx wonrail verify`
 * accepts the result.
 */
export async function loadHistory({ admin, orgId, wallets }: World, entries: number): Promise<void> {
  const org = idToUuid(orgId);
  for (let done = 0; done < entries; done += CHUNK) {
    if (done > 0 && done % PROGRESS_EVERY === 0)
      process.stderr.write(`${done / 1e6} million entries are loaded\n`);
    await admin.run(
      rawSql(
        "create table if not exists ledger.bench_numbers as select number from ledger.accounts where type = 1",
      ),
    );
    await admin.run(rawSql(chunkOf(org, Math.min(CHUNK, entries - done), wallets.length)));
  }
  await admin.run(rawSql("drop table if exists ledger.bench_numbers, ledger.bench_chunk"));
  await admin.run(
    rawSql("vacuum (analyze) ledger.entries, ledger.postings, ledger.accounts, ledger.type_blocks"),
  );
  await admin.run(rawSql("checkpoint"));
}

function chunkOf(org: string, count: number, wallets: number): string {
  return `
    drop table if exists ledger.bench_chunk;
    create table ledger.bench_chunk as
    with numbers as (select array_agg(number order by number) as n from ledger.bench_numbers),
    moves as (
      select i, (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0')
          || '7' || lpad(to_hex(i % 4096), 3, '0') || '8' || substr(md5(i::text || clock_timestamp()::text), 1, 15))::uuid as id,
        n[1 + floor(random() * ${wallets / 2})::int] as from_number,
        n[1 + ${wallets / 2} + floor(random() * ${wallets / 2})::int] as to_number
      from generate_series(1, ${count}) i, numbers
    ), sides as (
      select i, id, from_number as number, -1 as amount, 1 as position from moves
      union all select i, id, to_number, 1, 2 from moves
    )
    select s.i, s.id, s.number, s.amount, s.position,
      a.sequence + row_number() over w as sequence, a.balance_won + sum(s.amount) over w as balance
    from sides s join ledger.accounts a on a.number = s.number
    window w as (partition by s.number order by s.i, s.position);

    insert into ledger.entries (org_id, id, request_prefix, kind, content_hash, posted_at, org_sequence, account_numbers, sequences)
    select '${org}', id, 'trf', 6, id, clock_timestamp(), h.last_sequence + c.i,
      array_agg(number order by position), array_agg(sequence order by position)
    from ledger.bench_chunk c, ledger.journal_heads h where h.org_id = '${org}'
    group by id, c.i, h.last_sequence order by id;

    update ledger.journal_heads set last_sequence = last_sequence + ${count} where org_id = '${org}';

    insert into ledger.postings (account_number, sequence, amount_won, balance_after_won, entry_id, org_id, type)
    select number, sequence, amount, balance, id, '${org}', 1 from ledger.bench_chunk order by i;

    insert into ledger.type_blocks (account_number, type, sequence)
    select number, 1, sequence from ledger.bench_chunk where sequence % 128 = 0;

    insert into ledger.type_blocks (account_number, type, sequence)
    select distinct a.number, 2, 128 from ledger.accounts a join ledger.bench_chunk c on c.number = a.number
    where c.sequence = 128 and a.block_types & 2 <> 0 on conflict do nothing;

    update ledger.accounts a set sequence = c.sequence, balance_won = a.balance_won + c.amount,
      block_types = case when c.sequence / 128 = a.sequence / 128 then a.block_types | 1
        when c.sequence % 128 = 0 then 0 else 1 end
    from (select number, max(sequence) as sequence, sum(amount) as amount from ledger.bench_chunk group by number) c
    where a.number = c.number`;
}

export async function countEntries({ admin }: World): Promise<number> {
  const { count } = await admin.one<{ count: bigint }>(sql`select count(*) as count from ledger.entries`);
  return Number(count);
}
