import { type Queryable, rawSql, sql } from "@wonrail/kit/db";
import { openTestDatabase } from "@wonrail/kit/testing";
import { readJournalWindow } from "../../store/partitions";

/**
 * Extends the journal five months back, so that its oldest month may be detached. Returns the
 * journal's start.
 */
export async function addOldMonths(ownerUrl: string): Promise<number> {
  const owner = openTestDatabase(ownerUrl, "ledger");
  await owner.run(
    rawSql(`
      do $$
      declare
        until timestamptz := (select min(from_at) from journal_partitions);
        month timestamptz := date_trunc('month', now() - interval '5 months', 'UTC');
        suffix text;
        parent text;
      begin
        while month < until loop
          suffix := to_char(month at time zone 'UTC', 'YYYY_MM');
          foreach parent in array array['entries', 'postings'] loop
            execute format('create table %I (like %I including all)', parent || '_' || suffix, parent);
            perform attach_journal_partition(parent, suffix, month);
          end loop;
          execute format('create unique index on %I (account_number, sequence)', 'postings_' || suffix);
          perform index_entries_partition('entries_' || suffix);
          insert into journal_partitions values (suffix, month, next_month(month));
          month := next_month(month);
        end loop;
      end
      $$`),
  );
  const { fromMs } = await readJournalWindow(owner);
  await owner.close();
  return fromMs;
}

/** Marks every event as published. */
export async function forgetPublished(db: Queryable): Promise<void> {
  await db.run(sql`delete from outbox_pending`);
}

/** Detaches as an operator does, after the last event was published. Returns the month's name. */
export async function detachOldestMonth(ownerUrl: string): Promise<string> {
  const owner = openTestDatabase(ownerUrl, "ledger");
  try {
    await forgetPublished(owner);
    const { name } = await owner.one<{ name: string }>(sql`select detach_oldest_journal_partition() as name`);
    return name;
  } finally {
    await owner.close();
  }
}
