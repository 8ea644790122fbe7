import { type Queryable, sql, type Tx } from "@wonrail/kit/db";

/** A restore of the databases that is under way. */
export interface Restore {
  restoreId: bigint;
  preparedAt: Date;
  preparedBy: string;
  reason: string;
  /** The chain's newest final block when the restore was prepared. */
  finalBlock: bigint;
}

const COLUMNS = sql`restore_id as "restoreId", prepared_at as "preparedAt", prepared_by as "preparedBy", reason,
  final_block as "finalBlock"`;

/** Returns undefined when another restore is under way. */
export async function insertRestore(
  tx: Tx,
  { preparedBy, reason, finalBlock }: Pick<Restore, "preparedBy" | "reason" | "finalBlock">,
): Promise<Restore | undefined> {
  const [row] = await tx.write<Restore>(sql`
    insert into restores (prepared_by, reason, final_block) values (${preparedBy}, ${reason}, ${finalBlock})
    on conflict do nothing returning ${COLUMNS}`);
  return row;
}

export function findRestore(db: Queryable): Promise<Restore | undefined> {
  return db.maybe<Restore>(sql`select ${COLUMNS} from restores where resumed_at is null`);
}

/** Locks the restore that is under way until the transaction ends. */
export function lockRestore(tx: Tx): Promise<Restore | undefined> {
  return tx.maybe<Restore>(sql`select ${COLUMNS} from restores where resumed_at is null for update`);
}

export async function endRestore(tx: Tx, restoreId: bigint): Promise<void> {
  await tx.run(sql`update restores set resumed_at = now() where restore_id = ${restoreId}`);
}
