import { sql, tx, type Database, type Queryable, type Tx } from "../db";

/**
 * Number of a table's rows and index entries that the work reads, including discarded ones.
 * PostgreSQL plans by its statistics, so analyze a newly filled table first.
 */
export function rowsRead(db: Database, table: string, work: (tx: Tx) => Promise<unknown>): Promise<number> {
  return tx(db, async (tx) => {
    const before = await readUntilNow(tx, table);
    await work(tx);
    return (await readUntilNow(tx, table)) - before;
  });
}

/** Read by this connection since its last statistics report. */
async function readUntilNow(db: Queryable, table: string): Promise<number> {
  const { read } = await db.one<{ read: number }>(sql`
    select (pg_stat_get_xact_tuples_returned(${table}::regclass)
      + (select coalesce(sum(pg_stat_get_xact_tuples_returned(indexrelid)), 0) from pg_index where indrelid = ${table}::regclass))::float8 as read`);
  return read;
}
