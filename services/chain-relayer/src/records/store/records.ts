import { type Address } from "@wonrail/kit/contract/address";
import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { type PaymentType, type RecordStatus, type Run, type TransactionRecord } from "../domain/record";

export interface RecordRow {
  org_id: string;
  record_id: string;
  from_network: string;
  to_network: string;
  payment_type: PaymentType;
  from_address: Address;
  to_address: Address;
  tx_hash: string | null;
  amount: bigint;
  fee: bigint | null;
  memo: string | null;
  reference: string | null;
  metadata: Record<string, string>;
  changed_metadata: Record<string, string> | null;
  scheduled_at: Date | null;
  due_at: Date | null;
  status: RecordStatus;
  failure_reason: string | null;
  run: Run;
  transfer_id: string | null;
  attempts: number;
  version: bigint;
  request_id: string;
  traceparent: string;
  created_at: Date;
  updated_at: Date;
}

export type RecordKey = Pick<TransactionRecord, "orgId" | "recordId">;

/** The Idempotency-Key of a request, and the hash of its body. */
export interface RequestKey {
  idempotencyKey: string;
  bodyHash: Uint8Array;
}

/**
 * Returns false when the organisation already has the hash on this network, or a record under this
 * key.
 */
export async function insertRecord(
  tx: Tx,
  record: TransactionRecord,
  { runAt, key }: { runAt: Date | null; key: RequestKey | null },
): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into records (org_id, record_id, from_network, to_network, payment_type, from_address, to_address, tx_hash, amount, fee, memo,
      reference, metadata, scheduled_at, due_at, status,
      run, run_at, version, request_id, traceparent, created_at, updated_at, idempotency_key, body_hash)
    values (${record.orgId}, ${record.recordId}, ${record.fromNetwork}, ${record.toNetwork}, ${record.paymentType}, ${record.fromAddress},
      ${record.toAddress}, ${record.txHash}, ${record.amount}, ${record.fee}, ${record.memo},
      ${record.reference}, ${sql.json(record.metadata)}, ${record.scheduledAt}, ${record.dueAt}, ${record.status},
      ${record.run}, ${runAt}, ${record.version}, ${record.requestId}, ${record.traceparent}, ${record.createdAt}, ${record.updatedAt},
      ${key?.idempotencyKey ?? null}, ${key && Buffer.from(key.bodyHash)})
    on conflict do nothing`);
  return inserted === 1;
}

export async function findRecordIdByHash(
  db: Queryable,
  { orgId, fromNetwork, txHash }: Pick<TransactionRecord, "orgId" | "fromNetwork" | "txHash">,
): Promise<string | undefined> {
  const row = await db.maybe<{ record_id: string }>(sql`
    select record_id from records
    where org_id = ${orgId} and from_network = ${fromNetwork} and tx_hash = ${txHash} and payment_type = 'INSTANT'`);
  return row?.record_id;
}

/** The record under a key, and the hash of the creating request. */
export async function findRecordByKey(
  db: Queryable,
  orgId: string,
  idempotencyKey: string,
): Promise<{ record: TransactionRecord; bodyHash: Buffer } | undefined> {
  const row = await db.maybe<RecordRow & { body_hash: Buffer }>(
    sql`select * from records where org_id = ${orgId} and idempotency_key = ${idempotencyKey}`,
  );
  return row && { record: toRecord(row), bodyHash: row.body_hash };
}

export async function findRecord(
  db: Queryable,
  { orgId, recordId }: RecordKey,
): Promise<TransactionRecord | undefined> {
  const row = await db.maybe<RecordRow>(
    named("record_find", sql`select * from records where org_id = ${orgId} and record_id = ${recordId}`),
  );
  return row && toRecord(row);
}

/** The organisation of a record, its next look and its key. */
export interface RecordWork {
  orgId: string;
  recordId: string;
  runAt: Date | null;
  idempotencyKey: string | null;
}

export function findRecordWork(db: Queryable, recordId: string): Promise<RecordWork | undefined> {
  return db.maybe<RecordWork>(sql`
    select org_id as "orgId", record_id as "recordId", run_at as "runAt", idempotency_key as "idempotencyKey"
    from records where record_id = ${recordId}`);
}

/** A record that a search found. */
export type FoundRecord = Pick<TransactionRecord, "orgId" | "recordId" | "paymentType" | "status">;

/** Records of all organisations with this id or hash. */
export function findRecords(db: Queryable, text: string, limit: number): Promise<FoundRecord[]> {
  const walk = (condition: Sql) => sql`
    (select org_id as "orgId", record_id as "recordId", payment_type as "paymentType", status
    from records where ${condition} limit ${limit})`;
  return db.query<FoundRecord>(sql`
    ${walk(sql`record_id = ${text}`)} union ${walk(sql`tx_hash = ${text}`)} limit ${limit}`);
}

/** The record, locked until the transaction ends. */
export async function lockRecord(
  tx: Tx,
  { orgId, recordId }: RecordKey,
): Promise<TransactionRecord | undefined> {
  const row = await tx.maybe<RecordRow>(
    sql`select * from records where org_id = ${orgId} and record_id = ${recordId} for update`,
  );
  return row && toRecord(row);
}

/** Stores the changed metadata of a locked record. */
export async function saveRecordMetadata(tx: Tx, record: TransactionRecord): Promise<void> {
  await tx.run(sql`
    update records set changed_metadata = ${sql.json(record.changedMetadata)}, version = ${record.version},
      updated_at = ${record.updatedAt}
    where org_id = ${record.orgId} and record_id = ${record.recordId}`);
}

/** Stores a locked record. */
export async function saveRecord(tx: Tx, record: TransactionRecord, runAt: Date | null): Promise<void> {
  await tx.run(sql`
    update records set status = ${record.status}, failure_reason = ${record.failureReason}, tx_hash = ${record.txHash},
      scheduled_at = ${record.scheduledAt},
      due_at = ${record.dueAt}, run = ${record.run}, run_at = ${runAt}, transfer_id = ${record.transferId},
      attempts = ${record.attempts}, version = ${record.version}, updated_at = ${record.updatedAt}
    where org_id = ${record.orgId} and record_id = ${record.recordId}`);
}

/**
 * Due records, locked until the transaction ends. Uses `now()`, because PostgreSQL cannot use the
 * index for a moving time and would read all future records.
 */
function due(run: Run, limit: number): Sql {
  return sql`
    select org_id, record_id, run_at from records
    where run = ${run} and run_at <= now() order by run_at limit ${limit} for update skip locked`;
}

/**
 * Leases due scheduled records for `leaseMs`, including those of a dead replica. Each kind is a
 * separate walk of the index, so that no more rows are sorted than taken.
 */
export async function takeDueRecords(tx: Tx, leaseMs: number, limit: number): Promise<TransactionRecord[]> {
  const rows = await tx.query<RecordRow>(sql`
    with due as materialized (
      select org_id, record_id from (
        select * from (${due("WAITING", limit)}) as waiting union all select * from (${due("STARTED", limit)}) as started) as both_kinds
      order by run_at limit ${limit})
    update records r set attempts = attempts + 1, run_at = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    from due where r.org_id = due.org_id and r.record_id = due.record_id returning r.*`);
  return rows.map(toRecord);
}

/**
 * Starts records that are unchanged since they were taken, under the same lease, and returns them.
 * Their owner cannot stop them any more.
 */
export async function startRecords(
  db: Queryable,
  orgId: string,
  taken: TransactionRecord[],
  leaseMs: number,
): Promise<TransactionRecord[]> {
  const rows = await db.write<RecordRow>(sql`
    update records r set run = 'STARTED', run_at = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    from unnest(${taken.map(({ recordId }) => recordId)}::text[], ${taken.map(({ version }) => version)}::bigint[],
      ${taken.map(({ attempts }) => attempts)}::integer[]) as taken (record_id, version, attempts)
    where r.org_id = ${orgId} and r.record_id = taken.record_id and r.version = taken.version and r.attempts = taken.attempts
      and r.run = 'WAITING' and r.run_at > clock_timestamp() returning r.*`);
  return rows.map(toRecord);
}

/**
 * Sets the real due times of an organisation's waiting records by its test clock. Due times are not
 * before the creation, because the transfer's id contains them.
 */
export async function moveSchedules(tx: Tx, orgId: string, offsetMs: number): Promise<void> {
  await tx.run(sql`
    update records set due_at = greatest(created_at, scheduled_at - make_interval(secs => ${offsetMs / 1000})),
      run_at = greatest(created_at, scheduled_at - make_interval(secs => ${offsetMs / 1000}))
    where org_id = ${orgId} and run = 'WAITING'`);
}

/** Age of the oldest record that is due; 0 when there is none. */
export async function findOldestDueSeconds(db: Queryable): Promise<number> {
  const { seconds } = await db.one<{ seconds: number }>(sql`
    select greatest(0, extract(epoch from clock_timestamp() - min(coalesce(due_at, scheduled_at))))::float8 as seconds
    from records where run in ('WAITING', 'STARTED')`);
  return seconds;
}

/**
 * Hashes to look up now, leased for `againMs`. The organisations whose oldest hash has been due
 * longest come first, each with a part of the limit. The recursion visits each organisation once.
 */
export async function takeWatchedRecords(
  tx: Tx,
  againMs: number,
  { limit, except }: { limit: number; except: string[] },
): Promise<TransactionRecord[]> {
  const rows = await tx.query<RecordRow>(sql`
    with recursive watching as (
      (select org_id from records where run = 'WATCHED' order by org_id limit 1)
      union all
      select (select r.org_id from records r where r.run = 'WATCHED' and r.org_id > watching.org_id order by r.org_id limit 1)
      from watching where watching.org_id is not null),
    turns as (
      select watching.org_id from watching cross join lateral (
        select run_at from records r where r.run = 'WATCHED' and r.org_id = watching.org_id and run_at <= now()
        order by run_at limit 1) as oldest
      where watching.org_id <> all(${except}::text[])
      order by oldest.run_at limit ${MOST_ORGANISATIONS}),
    due as materialized (
      select next.org_id, next.record_id from turns cross join lateral (
        select org_id, record_id from records r where r.run = 'WATCHED' and r.org_id = turns.org_id and run_at <= now()
        order by run_at limit (select ceil(${limit}::numeric / count(*))::integer from turns)
        for update skip locked) as next
      limit ${limit})
    update records r set run_at = clock_timestamp() + make_interval(secs => ${againMs / 1000})
    from due where r.org_id = due.org_id and r.record_id = due.record_id returning r.*`);
  return rows.map(toRecord);
}

/** Limit of organisations per run. */
const MOST_ORGANISATIONS = 100;

/** Postpones records, unless they were changed meanwhile: the change has set the next look. */
export async function postponeRecords(
  db: Queryable,
  records: { record: RecordKey & Pick<TransactionRecord, "version">; delayMs: number }[],
): Promise<void> {
  if (records.length === 0) return;
  await db.run(sql`
    update records r set run_at = clock_timestamp() + make_interval(secs => later.delay_ms / 1000.0)
    from unnest(${records.map(({ record }) => record.orgId)}::text[], ${records.map(({ record }) => record.recordId)}::text[],
      ${records.map(({ record }) => record.version)}::bigint[], ${records.map(({ delayMs }) => Math.round(delayMs))}::bigint[])
      as later (org_id, record_id, version, delay_ms)
    where r.org_id = later.org_id and r.record_id = later.record_id and r.version = later.version and r.run_at is not null`);
}

/** Position of a walk along the sent records. */
export interface SentPlace extends RecordKey {
  /** In the database's form, which has microseconds. */
  runAt: string;
}

export const FIRST_SENT_PLACE: SentPlace = { runAt: "-infinity", orgId: "", recordId: "" };

/** A scheduled record that was sent as a transfer, with the chain's outcome so far. */
export interface SentRecord {
  place: SentPlace;
  settled: "CONFIRMED" | "FAILED" | null;
  txHash: string | null;
  reason: string | null;
}

/**
 * Reads some sent records, in their order. Read-only, because thousands may wait for finality, and
 * postponing each would rewrite its row and index entries.
 */
export async function listSentRecords(db: Queryable, after: SentPlace, limit: number): Promise<SentRecord[]> {
  const rows = await db.query<{
    org_id: string;
    record_id: string;
    run_at: string;
    state: string | null;
    tx_hash: string | null;
    failure_reason: string | null;
  }>(sql`
    with sent as (
      select org_id, record_id, run_at, transfer_id from records
      where run = 'SENT' and run_at >= ${after.runAt}
        and (run_at, org_id, record_id) > (${after.runAt}, ${after.orgId}, ${after.recordId})
      order by run_at, org_id, record_id limit ${limit})
    select sent.org_id, sent.record_id, sent.run_at::text, o.state, o.tx_hash, o.failure_reason
    from sent left join operations o on o.org_id = sent.org_id and o.ledger_ref = sent.transfer_id
    order by sent.run_at, sent.org_id, sent.record_id`);
  return rows.map((row) => ({
    place: { orgId: row.org_id, recordId: row.record_id, runAt: row.run_at },
    settled: outcomeOf(row.state),
    txHash: row.tx_hash,
    reason: row.failure_reason,
  }));
}

/** A sent record, unless it is finished or locked by another replica. */
export async function lockSentRecord(
  tx: Tx,
  { orgId, recordId }: RecordKey,
): Promise<TransactionRecord | undefined> {
  const row = await tx.maybe<RecordRow>(sql`
    select * from records where org_id = ${orgId} and record_id = ${recordId} and run = 'SENT' for update skip locked`);
  return row && toRecord(row);
}

function outcomeOf(state: string | null): SentRecord["settled"] {
  if (state === "FAILED") return "FAILED";
  return state === "CONFIRMED" || state === "PASSED" ? "CONFIRMED" : null;
}

export function toRecord(row: RecordRow): TransactionRecord {
  return {
    orgId: row.org_id,
    recordId: row.record_id,
    fromNetwork: row.from_network,
    toNetwork: row.to_network,
    paymentType: row.payment_type,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    txHash: row.tx_hash,
    amount: row.amount,
    fee: row.fee,
    memo: row.memo,
    reference: row.reference,
    metadata: row.metadata,
    scheduledAt: row.scheduled_at,
    status: row.status,
    failureReason: row.failure_reason,
    changedMetadata: row.changed_metadata,
    run: row.run,
    dueAt: row.due_at,
    transferId: row.transfer_id,
    attempts: row.attempts,
    version: row.version,
    requestId: row.request_id,
    traceparent: row.traceparent,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
