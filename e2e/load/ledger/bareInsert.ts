import { performance } from "node:perf_hooks";
import { named, rawSql, sql, tx } from "@wonrail/kit/db";
import { idToUuid, newId } from "@wonrail/kit/contract/ids";
import type { World } from "./world";

const BATCH = 1_000;

/**
 * Upper bound of the ledger's tables: inserts as many rows as a batch of transfers, with indexes
 * and constraints, in one transaction. No locks, balances, checks across rows, idempotency or
 * events.
 */
export async function bareInsertRate(world: World, seconds: number): Promise<number> {
  const { admin } = world;
  await admin.run(
    rawSql(`
    drop table if exists bare_entries, bare_postings;
    create table bare_entries (like entries including all) partition by range (id);
    create table bare_postings (like postings including all) partition by range (entry_id);
    create table bare_entries_1 partition of bare_entries default;
    create table bare_postings_1 partition of bare_postings default;
    create unique index on bare_postings_1 (account_number, sequence)`),
  );
  const startMs = performance.now();
  let count = 0;
  const sequences = new Map<bigint, bigint>();
  while (performance.now() - startMs < seconds * 1000) {
    await insertBatch(world, sequences, count);
    count += BATCH;
  }
  return (count * 1000) / (performance.now() - startMs);
}

async function insertBatch(
  { admin, orgId, wallets }: World,
  sequences: Map<bigint, bigint>,
  done: number,
): Promise<void> {
  const ids = Array.from({ length: BATCH }, () => idToUuid(newId("jrn")));
  const lines = ids.flatMap((id) =>
    [1, -1].map((sign) => ({ id, sign, number: BigInt(1 + Math.floor(Math.random() * wallets.length)) })),
  );
  const next = lines.map(({ number }) => {
    const sequence = (sequences.get(number) ?? 0n) + 1n;
    sequences.set(number, sequence);
    return sequence;
  });
  const org = idToUuid(orgId);
  const now = new Date();
  await tx(admin, async (tx) => {
    await tx.run(
      named(
        "bare_entries",
        sql`
          insert into bare_entries (org_id, id, request_prefix, kind, content_hash, posted_at, org_sequence,
            account_numbers, sequences)
          select ${org}::uuid, id, 'opn', 6, id, ${now}::timestamptz, ${BigInt(done)}::bigint + position,
            numbers::bigint[], sequences::bigint[]
          from unnest(${ids}::uuid[],
            ${ids.map((_, index) => `{${lines[2 * index]!.number},${lines[2 * index + 1]!.number}}`)}::text[],
            ${ids.map((_, index) => `{${next[2 * index]!},${next[2 * index + 1]!}}`)}::text[])
            with ordinality as r (id, numbers, sequences, position)`,
      ),
    );
    await tx.run(
      named(
        "bare_postings",
        sql`
          insert into bare_postings (account_number, sequence, amount_won, balance_after_won, entry_id, org_id, type)
          select number, sequence, amount, 1000000000 + amount, entry_id, ${org}::uuid, 1
          from unnest(${lines.map(({ number }) => number)}::bigint[], ${next}::bigint[], ${lines.map(({ sign }) => sign * 10)}::bigint[],
            ${lines.map(({ id }) => id)}::uuid[]) as r (number, sequence, amount, entry_id)`,
      ),
    );
  });
}
