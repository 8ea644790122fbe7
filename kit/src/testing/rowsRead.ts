import { sql, tx, type Database, type Queryable, type Tx } from "../db";

/**
 * How many rows and index entries of a table the work reads, also those that it leaves out then. PostgreSQL decides how to read by what it knows of the table: who
 * has just filled it analyzes it first.
 */
export function rowsRead(db: Database, table: string, work: (tx: Tx) => Promise<unknown>): Promise<number> {
  return tx(db, async (tx) => {
    const before = await readUntilNow(tx, table);
    await work(tx);
    return (await readUntilNow(tx, table)) - before;
  });
}

/** By this connection, since it last told the server's statistics. */
async function readUntilNow(db: Queryable, table: string): Promise<number> {
  const { read } = await db.one<{ read: number }>(sql`
    select (pg_stat_get_xact_tuples_returned(${table}::regclass)
      + (select coalesce(sum(pg_stat_get_xact_tuples_returned(indexrelid)), 0) from pg_index where indrelid = ${table}::regclass))::float8 as read`);
  return read;
}
