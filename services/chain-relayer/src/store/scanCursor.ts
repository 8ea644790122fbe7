import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

export interface Cursor {
  blockNumber: bigint;
  blockHash: string;
  blockTime: bigint;
}

interface CursorRow {
  block_number: bigint;
  block_hash: string;
  block_time: bigint;
}

export async function findCursor(db: Queryable): Promise<Cursor | undefined> {
  const row = await db.maybe<CursorRow>(sql`select block_number, block_hash, block_time from scan_cursor`);
  return row && toCursor(row);
}

/** The cursor, kept from others until the transaction ends. */
export async function lockCursor(tx: Tx): Promise<Cursor | undefined> {
  const row = await tx.maybe<CursorRow>(
    sql`select block_number, block_hash, block_time from scan_cursor for update`,
  );
  return row && toCursor(row);
}

export async function saveCursor(tx: Queryable, cursor: Cursor): Promise<void> {
  await tx.run(sql`
    insert into scan_cursor (block_number, block_hash, block_time)
    values (${cursor.blockNumber}, ${cursor.blockHash}, ${cursor.blockTime})
    on conflict (one) do update set block_number = excluded.block_number, block_hash = excluded.block_hash,
      block_time = excluded.block_time, updated_at = now()`);
}

function toCursor(row: CursorRow): Cursor {
  return { blockNumber: row.block_number, blockHash: row.block_hash, blockTime: row.block_time };
}
