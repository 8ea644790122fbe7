import { type Queryable, type Sql, sql } from "@wonrail/kit/db";
import { DEAD_ENDS, type Decision, findEndings } from "../domain/findEndings";
import { type Ages, agesOf } from "./settlementQueues";
import { HAS_UNEXPLAINED_MINT, type Operation, type OperationKey } from "./operations";

/** Operations as operators look at them: of all organisations, with everything that was tried. */
export interface OpenOperation {
  orgId: string;
  ledgerRef: string;
  kind: string;
  state: string;
  waitReason: string | null;
  attempts: number;
  txHash: string | null;
  ageSeconds: number;
  /** The ways in which an operator can end it. */
  endings: Decision[];
}

export interface OpenFilter {
  olderThanSeconds: number;
  orgId: string | null;
  /** Only operations that an operator must end. */
  isUndecided: boolean;
  limit: number;
}

/** Unfinished operations, oldest first. */
export async function listStuckOperations(
  db: Queryable,
  { olderThanSeconds, orgId, isUndecided, limit }: OpenFilter,
): Promise<OpenOperation[]> {
  // These are few: "offset 0" makes PostgreSQL find them first and sort them afterwards.
  const undecided = sql`
    (select * from operations
    where state = 'BLOCKED' or state = 'PLANNED' and wait_reason = any(${[...DEAD_ENDS]}::text[]) offset 0)`;
  const rows = await db.query<Omit<OpenOperation, "endings"> & { ownReason: string | null }>(sql`
    select org_id as "orgId", ledger_ref as "ledgerRef", kind, state, attempts, tx_hash as "txHash",
      case
        when state in ('WAITING', 'PLANNED') and exists (
          select from settlement_queues q
          where q.org_id = o.org_id and q.paused_reason is not null) then 'queue_paused'
        when state in ('WAITING', 'PLANNED') and exists (
          select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets)) then 'drift'
        when state in ('WAITING', 'PLANNED') and cardinality(from_wallets) > 0 and ${HAS_UNEXPLAINED_MINT} then 'unexplained_mint'
        else wait_reason
      end as "waitReason",
      wait_reason as "ownReason", extract(epoch from now() - created_at)::float8 as "ageSeconds"
    from ${isUndecided ? undecided : sql`operations`} o
    where state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'BLOCKED') and created_at <= now() - make_interval(secs => ${olderThanSeconds})
      ${orgId === null ? sql`` : sql`and org_id = ${orgId}`}
    order by created_at limit ${limit}`);
  return rows.map(({ ownReason, ...operation }) => ({
    ...operation,
    endings: findEndings({ ...operation, waitReason: ownReason }),
  }));
}

/** States of the existing ones. */
export function listOperationStates(db: Queryable, refs: OperationKey[]): Promise<OperationState[]> {
  return db.query<OperationState>(sql`
    select org_id as "orgId", ledger_ref as "ledgerRef", state from operations
    where (org_id, ledger_ref) in (select * from unnest(
      ${refs.map(({ orgId }) => orgId)}::text[], ${refs.map(({ ledgerRef }) => ledgerRef)}::text[]))`);
}

export type OperationState = Pick<Operation, "orgId" | "ledgerRef" | "state">;

/** A pause does not stop sent operations. */
export interface OpenCount extends Ages {
  state: string;
  /** Empty when it only waits for its turn. */
  reason: string;
  count: number;
}

/** Counts stop at this number. */
const MOST_COUNTED = 10_000;

/**
 * Counts open operations by state and wait reason, with the age of the oldest. One index has state,
 * reason, organisation and age, so each count and each oldest row is one walk of it.
 */
export async function listOpenCounts(db: Queryable, mostCounted = MOST_COUNTED): Promise<OpenCount[]> {
  const open = sql`o.state in ('WAITING', 'PLANNED', 'IN_FLIGHT', 'BLOCKED')`;
  const reasonBehind = (those: Sql) => sql`
    (select o.wait_reason from operations o where ${open} and ${those} order by o.wait_reason limit 1)`;
  const stands = (state: Sql) => sql`q.paused_reason is not null and ${state} <> 'IN_FLIGHT'`;
  // Sorted by the reason too, because PostgreSQL does not use the index for a null otherwise.
  const found = (those: Sql, state: Sql) => sql`
    (select count(*) from (
      select from operations o where ${open} and ${those} order by o.wait_reason limit ${mostCounted}) as counted) as counted
    cross join lateral (select ${agesOf(sql`oldest.created_at`, stands(state))}
      from settlement_queues q cross join lateral (
        select o.created_at from operations o where ${open} and ${those} and o.org_id = q.org_id
        order by o.wait_reason, o.created_at limit 1) as oldest) as ages`;
  const rows = await db.query<Omit<OpenCount, "count"> & { count: bigint }>(sql`
    with recursive states (state) as (values ('WAITING'), ('PLANNED'), ('IN_FLIGHT'), ('BLOCKED')),
    reasons as (
      select state, ${reasonBehind(sql`o.state = s.state and o.wait_reason is not null`)} as reason from states s
      union all
      select state, ${reasonBehind(sql`o.state = r.state and o.wait_reason > r.reason`)} from reasons r where reason is not null)
    select state, '' as reason, counted.*, ages.* from states s
    cross join lateral ${found(sql`o.state = s.state and o.wait_reason is null`, sql`s.state`)} where count > 0
    union all
    select state, reason, counted.*, ages.* from reasons r
    cross join lateral ${found(sql`o.state = r.state and o.wait_reason = r.reason`, sql`r.state`)} where count > 0`);
  return rows.map((row) => ({ ...row, count: Number(row.count) }));
}

/** Age of the oldest operation in an unmined transaction; 0 when there is none. */
export async function findOldestUnminedSeconds(db: Queryable): Promise<number> {
  const { seconds } = await db.one<{ seconds: number }>(sql`
    select coalesce(extract(epoch from now() - min(o.created_at)), 0)::float8 as seconds
    from transactions t join operations o on o.transaction_id = t.transaction_id and o.state = 'IN_FLIGHT'
    where t.state in ('SIGNED', 'SENT')`);
  return seconds;
}

/** An operation that a search found. */
export type FoundOperation = Pick<Operation, "orgId" | "ledgerRef" | "kind" | "state">;

const FOUND = sql`org_id as "orgId", ledger_ref as "ledgerRef", kind, state`;

/** The operations in a transaction. */
export function findOperationsOfTransaction(
  db: Queryable,
  transactionId: bigint,
  limit: number,
): Promise<FoundOperation[]> {
  const walk = (states: Sql) => sql`
    (select ${FOUND} from operations where transaction_id = ${transactionId} and ${states} limit ${limit})`;
  return db.query<FoundOperation>(sql`
    ${walk(sql`state = 'IN_FLIGHT'`)} union all ${walk(sql`state in ('CONFIRMED', 'FAILED')`)} limit ${limit}`);
}

export function findOperationByChainId(
  db: Queryable,
  operationId: string,
): Promise<FoundOperation | undefined> {
  return db.maybe<FoundOperation>(sql`select ${FOUND} from operations where operation_id = ${operationId}`);
}

/** How many operations each of these transactions under way has. */
export async function countOperationsOf(
  db: Queryable,
  transactionIds: bigint[],
): Promise<Map<bigint, number>> {
  const rows = await db.query<{ transaction_id: bigint; count: number }>(sql`
    select transaction_id, count(*)::integer as count from operations
    where state = 'IN_FLIGHT' and transaction_id = any(${transactionIds}::bigint[]) group by transaction_id`);
  return new Map(rows.map((row) => [row.transaction_id, row.count]));
}

export interface OperationDetails {
  operation: Record<string, unknown>;
  /** The ways in which an operator can end it. */
  endings: Decision[];
  /** Earlier open operations of its wallets, the oldest ones. */
  earlier: Record<string, unknown>[];
  /** Every version of its current or last transaction. */
  transactions: Record<string, unknown>[];
  /** Its used authorizations, by any transaction. */
  authorizations: Record<string, unknown>[];
}

/**
 * Finds an operation by the ledger's id or the chain's. Each leg is asked by index: the "offset 0"
 * prevents a join, which may read the whole table.
 */
export async function findOperationDetails(
  db: Queryable,
  ref: string,
  knownOrgId: string | null = null,
): Promise<OperationDetails | undefined> {
  const isOfOrganisation = knownOrgId === null ? sql`true` : sql`org_id = ${knownOrgId}`;
  const operation = await db.maybe<DetailRow>(sql`
    (select * from operations where ledger_ref = ${ref} and ${isOfOrganisation})
    union all (select * from operations where operation_id = ${ref.replace(/^0x/, "")})
    limit 1`);
  if (!operation) return undefined;
  const { org_id: orgId, ledger_ref: ledgerRef, transaction_id: transactionId } = operation;
  return {
    operation,
    endings: findEndings({ ...operation, waitReason: operation.wait_reason }),
    earlier: await db.query(sql`
      select e.ledger_ref, e.org_sequence, e.state, e.wait_reason from operations o
      join operations e on e.org_id = o.org_id and e.state in ('WAITING', 'BLOCKED')
        and e.org_sequence < o.org_sequence and e.wallets && o.wallets
      where o.org_id = ${orgId} and o.ledger_ref = ${ledgerRef} and o.state = 'WAITING'
      order by e.org_sequence limit 20`),
    transactions: await db.query(sql`
      select t.nonce, t.signer, t.state, t.sends, t.sent_at, t.gas_limit, v.tx_hash, v.max_fee_wei, v.priority_fee_wei, v.created_at
      from transactions t join transaction_versions v using (transaction_id)
      where t.transaction_id = ${transactionId} order by v.created_at`),
    authorizations: await db.query(sql`
      select step."fromWalletId" as from_wallet_id, step.nonce, u.tx_hash, u.block_number, u.block_hash
      from operations o cross join lateral jsonb_to_recordset(o.steps) as step ("fromWalletId" text, nonce text)
      left join lateral (
        select * from used_authorizations used
        where used.from_wallet_id = step."fromWalletId" and used.nonce = step.nonce offset 0) as u on true
      where o.org_id = ${orgId} and o.ledger_ref = ${ledgerRef} and step."fromWalletId" is not null`),
  };
}

interface DetailRow extends Record<string, unknown> {
  org_id: string;
  ledger_ref: string;
  kind: string;
  state: string;
  wait_reason: string | null;
  transaction_id: bigint | null;
}
