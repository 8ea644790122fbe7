import { type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";

/** A rebuild of the records and its position. */
export interface Rebuild {
  id: bigint;
  phase: "NEXT" | "MARK" | "REPLAY" | "SWEEP" | "SETTLE" | "SWEEP_SETTLED";
  orgId: string;
  tableIndex: number;
  afterId: string;
  oldestSequence: bigint;
  afterSequence: bigint;
  organisations: bigint;
  entries: bigint;
  settlements: bigint;
  step: bigint;
  isFinished: boolean;
}

const COLUMNS = sql`
  id, phase, org_id as "orgId", table_index as "tableIndex", after_id as "afterId", oldest_sequence as "oldestSequence",
  after_sequence as "afterSequence", organisations, entries, settlements, step, finished_at is not null as "isFinished"`;

/** Starts a rebuild, or joins the one that is open. Returns its id. */
export async function beginRebuild(db: Queryable, operator: string): Promise<bigint> {
  await db.run(sql`
    insert into rebuilds (operator) values (${operator}) on conflict ((true)) where finished_at is null do nothing`);
  const { id } = await db.one<{ id: bigint }>(sql`select max(id) as id from rebuilds`);
  return id;
}

export async function findOpenRebuild(db: Queryable): Promise<Rebuild | undefined> {
  return db.maybe<Rebuild>(sql`select ${COLUMNS} from rebuilds where finished_at is null`);
}

export async function findRebuild(db: Queryable, id: bigint): Promise<Rebuild | undefined> {
  return db.maybe<Rebuild>(sql`select ${COLUMNS} from rebuilds where id = ${id}`);
}

/** False when another replica took the step meanwhile. */
export async function lockRebuild(tx: Tx, { id, step }: Rebuild): Promise<boolean> {
  const row = await tx.maybe(sql`
    select from rebuilds where id = ${id} and step = ${step} and finished_at is null for update`);
  return row !== undefined;
}

export async function saveRebuild(tx: Tx, next: Rebuild): Promise<void> {
  await tx.run(sql`
    update rebuilds set phase = ${next.phase}, org_id = ${next.orgId}, table_index = ${next.tableIndex},
      after_id = ${next.afterId}, oldest_sequence = ${next.oldestSequence}, after_sequence = ${next.afterSequence},
      organisations = ${next.organisations}, entries = ${next.entries}, settlements = ${next.settlements}, step = step + 1,
      finished_at = case when ${next.isFinished} then now() end
    where id = ${next.id}`);
}

/** The tables that a rebuild writes from the journal, with the column of their id. */
const TABLES = [
  ["transfers", "transfer_id"],
  ["charges", "charge_id"],
  ["charge_cancels", "cancel_id"],
  ["refunds", "refund_id"],
  ["payments", "payment_id"],
  ["payment_refunds", "refund_id"],
] as const;

/** chain-relayer keeps all settlements, also of months that left the ledger. */
const MARKED_TABLES = [...TABLES, ["settlements", "ledger_ref"]] as const;

export const REBUILT_TABLES = MARKED_TABLES.length;

/**
 * Marks up to `limit` rows of one table as not confirmed, by a negative version. Records of months that left the ledger
 * keep their version. Returns the last id, or null at the end of the table.
 */
export async function markRows(tx: Tx, rebuild: Rebuild, limit: number): Promise<string | null> {
  const names = MARKED_TABLES[rebuild.tableIndex]!;
  const [table, id] = names.map((name) => sql.identifier(name)) as [Sql, Sql];
  const oldest = names[0] === "settlements" ? 0n : rebuild.oldestSequence;
  const { last } = await tx.one<{ last: string | null }>(sql`
    with looked as (
      select ${id} as id from ${table} where org_id = ${rebuild.orgId} and ${id} > ${rebuild.afterId}
      order by 1 limit ${limit} for no key update),
    marked as (
      update ${table} t set version = -version from looked
      where t.org_id = ${rebuild.orgId} and t.${id} = looked.id and t.version >= ${oldest})
    select max(id) as last from looked`);
  return last;
}

/** Restores the version of rows whose newest entry has one of these sequences. */
export async function confirmRows(tx: Tx, orgId: string, sequences: bigint[]): Promise<void> {
  for (const [name] of TABLES)
    await tx.run(sql`
      update ${sql.identifier(name)} set version = -version
      where org_id = ${orgId} and version < 0 and -version = any(${sequences}::bigint[])`);
}

/**
 * Deletes up to `limit` unconfirmed rows of each table, and returns their number. Rows of
 * months that were detached during the rebuild keep their version.
 */
export async function sweepRows(tx: Tx, { orgId, oldestSequence }: Rebuild, limit: number): Promise<number> {
  let deleted = 0;
  for (const [name] of TABLES) {
    const table = sql.identifier(name);
    deleted += await tx.run(sql`
      delete from ${table} where ctid in (
        select ctid from ${table} where org_id = ${orgId} and version < 0 and -version >= ${oldestSequence} limit ${limit})`);
    await tx.run(sql`
      update ${table} set version = -version where org_id = ${orgId} and version < 0 and -version < ${oldestSequence}`);
  }
  return deleted;
}

/** Deletes up to `limit` settlements that chain-relayer did not list, and returns how many. */
export async function sweepSettlements(tx: Tx, orgId: string, limit: number): Promise<number> {
  return tx.run(sql`
    delete from settlements where ctid in (
      select ctid from settlements where org_id = ${orgId} and version < 0 limit ${limit})`);
}
