import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

export interface Cursor {
  blockNumber: bigint;
  blockHash: string;
  blockTime: bigint;
}

/** An ingested final block. */
export type IngestedBlock = Pick<Cursor, "blockNumber" | "blockHash">;

interface CursorRow {
  block_number: bigint;
  block_hash: string;
  block_time: bigint;
}

export async function findCursor(db: Queryable): Promise<Cursor | undefined> {
  const row = await db.maybe<CursorRow>(sql`select block_number, block_hash, block_time from scan_cursor`);
  return row && toCursor(row);
}

/** True while no ingested block held an event of ours. */
export async function hasNoIngestedEvents(db: Queryable): Promise<boolean> {
  const { empty } = await db.one<{ empty: boolean }>(sql`
    select not exists (select from used_authorizations) and not exists (select from deposits)
      and not exists (select from operations where state in ('CONFIRMED', 'FAILED')) as empty`);
  return empty;
}

/** The cursor, locked until the transaction ends. */
export async function lockCursor(tx: Tx): Promise<Cursor | undefined> {
  const row = await tx.maybe<CursorRow>(
    sql`select block_number, block_hash, block_time from scan_cursor for update`,
  );
  return row && toCursor(row);
}

/** Inserts the first cursor. Only one replica succeeds; there is no row to lock before. */
export async function insertCursor(tx: Tx, { blockNumber, blockHash, blockTime }: Cursor): Promise<boolean> {
  const begun = await tx.run(sql`
    insert into scan_cursor (block_number, block_hash, block_time) values (${blockNumber}, ${blockHash}, ${blockTime})
    on conflict (one) do nothing`);
  return begun === 1;
}

export async function saveCursor(tx: Queryable, cursor: Cursor): Promise<void> {
  await tx.run(sql`
    insert into scan_cursor (block_number, block_hash, block_time)
    values (${cursor.blockNumber}, ${cursor.blockHash}, ${cursor.blockTime})
    on conflict (one) do update set block_number = excluded.block_number, block_hash = excluded.block_hash,
      block_time = excluded.block_time, updated_at = now()`);
}

/** Sets the cursor back and remembers the furthest block, also during a rescan. */
export async function rewindCursor(tx: Tx, { blockNumber, blockHash, blockTime }: Cursor): Promise<void> {
  await tx.run(sql`
    update scan_cursor set block_number = ${blockNumber}, block_hash = ${blockHash}, block_time = ${blockTime}, updated_at = now(),
      rewound_from_number = greatest(rewound_from_number, block_number),
      rewound_from_hash = case when rewound_from_number > block_number then rewound_from_hash else block_hash end`);
}

/** The furthest ingested block: the cursor's, or during a rescan the one before it. */
export async function findFurthestBlock(db: Queryable): Promise<IngestedBlock | undefined> {
  const row = await db.maybe<Pick<CursorRow, "block_number" | "block_hash">>(sql`
    select greatest(rewound_from_number, block_number) as block_number,
      case when rewound_from_number > block_number then rewound_from_hash else block_hash end as block_hash
    from scan_cursor`);
  return row && { blockNumber: row.block_number, blockHash: row.block_hash };
}

function toCursor(row: CursorRow): Cursor {
  return { blockNumber: row.block_number, blockHash: row.block_hash, blockTime: row.block_time };
}
