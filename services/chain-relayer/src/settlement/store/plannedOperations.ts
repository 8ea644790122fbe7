import { type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { HAS_HOLD_FAILURE_REASON } from "./holds";
import {
  COLUMNS,
  HAS_UNEXPLAINED_MINT,
  type Operation,
  type OperationKey,
  type OperationRow,
  toOperation,
} from "./operations";

// Planned operations: the next ones, and those that must wait.

/** Prefix of custody's refusal reasons. */
export const REFUSED_BY_CUSTODY = "custody_";
/**
 * Operations that custody refused. They are retried often and mostly in vain, so they must not
 * block others.
 */
export const REFUSED = sql`coalesce(starts_with(wait_reason, ${REFUSED_BY_CUSTODY}), false)`;
/**
 * Reasons that probably hold for the whole organisation. After this many refusals for one of them
 * no more of its queue is planned, because planning more would only repeat the question.
 */
const REFUSED_TO_ALL = [
  ...["key_unavailable", "over_organisation_limit", "over_global_limit"],
  ...["wrong_chain", "wrong_token", "horizon", "expired", "refused"],
].map((reason) => REFUSED_BY_CUSTODY + reason);
/**
 * A reason that holds for all operations of the same payers: no more of those is planned. All other
 * reasons concern a single operation.
 */
const REFUSED_TO_PAYER = `${REFUSED_BY_CUSTODY}over_wallet_limit`;
const REFUSED_AT_MOST = 1_000;
/** Limit of retried operations per batch. */
const REFUSED_AT_ONCE = 200;

/** Wallets with too many refusals by custody. */
const FULL_PAYERS = sql`full_payers as (
      select org_id, from_wallets from operations where state = 'PLANNED' and ${REFUSED} and wait_reason = ${REFUSED_TO_PAYER}
      group by org_id, from_wallets having count(*) >= ${REFUSED_AT_MOST})`;
/** No outflow while an unexplained mint is open: a stranger may have the operator's key. */
const OUTFLOW_OPEN = sql`(cardinality(from_wallets) = 0 or not ${HAS_UNEXPLAINED_MINT})`;
/** No drift is open that stops the outflow of its wallets. */
const MAY_LEAVE = sql`${OUTFLOW_OPEN}
  and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets))
  and not exists (select from full_payers f where f.org_id = o.org_id and f.from_wallets = o.from_wallets)`;

/**
 * Queues with operations to plan, the longest waiting first. Excludes paused queues and those with
 * too many refusals by custody.
 */
export async function listQueuesToPlan(tx: Tx, limit: number): Promise<string[]> {
  const rows = await tx.query<{ org_id: string }>(sql`
    select org_id from settlement_queues q
    where paused_reason is null
      and exists (select from operations o where o.org_id = q.org_id and o.state = 'WAITING')
      and not exists (
        select from operations o where o.org_id = q.org_id and o.state = 'PLANNED' and ${REFUSED}
          and o.wait_reason = any(${REFUSED_TO_ALL}::text[]) offset ${REFUSED_AT_MOST - 1})
    order by served_at limit ${limit}`);
  return rows.map((row) => row.org_id);
}

export interface QueuedRow extends OperationKey {
  wallets: string[];
  /** BLOCKED, held in the sandbox, or its payer's money may not leave now. */
  isStuck: boolean;
  isBlocked: boolean;
  /** Held up at the last walk. */
  isHeldUp: boolean;
}

/** One organisation's queue, in journal order. */
export async function listQueue(tx: Tx, orgId: string): Promise<QueuedRow[]> {
  return tx.query<QueuedRow>(sql`
    with ${FULL_PAYERS}
    select org_id as "orgId", ledger_ref as "ledgerRef", wallets, state = 'BLOCKED' as "isBlocked",
      state = 'BLOCKED' or sandbox_order is not null or not (${MAY_LEAVE}) as "isStuck", wait_reason is not null as "isHeldUp"
    from operations o where o.org_id = ${orgId} and state in ('WAITING', 'BLOCKED')
    order by org_sequence, ledger_ref`);
}

/** Plans each, in this order. */
export async function markPlanned(tx: Tx, operations: OperationKey[]): Promise<void> {
  const turns = await tx.query<{ turn: bigint }>(
    sql`select nextval('operation_turns') as turn from generate_series(1, ${operations.length}::integer) order by 1`,
  );
  await tx.run(sql`
    update operations o set updated_at = now(), turn = planned.turn, state = 'PLANNED', wait_reason = null
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[],
      ${turns.map(({ turn }) => turn)}::bigint[]) as planned (org_id, ledger_ref, turn)
    where o.org_id = planned.org_id and o.ledger_ref = planned.ledger_ref and o.state = 'WAITING'`);
}

/** Marks waiting operations that an earlier one of their wallets holds up. */
export async function markHeldUp(tx: Tx, operations: OperationKey[]): Promise<void> {
  if (operations.length === 0) return;
  await tx.run(sql`
    update operations o set wait_reason = ${HELD_UP}
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as held (org_id, ledger_ref)
    where o.org_id = held.org_id and o.ledger_ref = held.ledger_ref and o.state = 'WAITING'`);
}

/** Why a waiting operation was not planned, other than for room. */
const HELD_UP = "held_up";

/** A hold near its end is not sent again after a refusal for its own cause. */
const IN_TIME = sql`(expires_at is null or expires_at > now() + interval '10 seconds' or not ${HAS_HOLD_FAILURE_REASON})`;

/** Planned operations, without those of wallets with a newer drift, of paused queues and held in the sandbox. */
const MAY_GO = sql`state = 'PLANNED' and sandbox_order is null and ${IN_TIME} and ${OUTFLOW_OPEN}
  and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(from_wallets))
  and org_id not in (select q.org_id from settlement_queues q where q.paused_reason is not null)`;

const LONGEST_BLOCKED_WAIT = sql`interval '4 hours'`;
/** The longest possible wait. A longer one was stored before the database's clock was set back. */
export const LONGEST_WAIT = sql`case when wait_reason = 'AccountBlocked' then interval '5 hours' else interval '15 minutes' end`;
const DUE = sql`retry_at <= now()`;
/** Never sent, and not refused by custody. */
const FIRST = sql`attempts = 0 and not ${REFUSED} and (${DUE} or retry_at > now() + ${LONGEST_WAIT})`;
/** Sent before and returned, mostly after a refusal by the chain, which will probably repeat. */
const AGAIN = sql`attempts > 0 and not ${REFUSED} and ${DUE}`;

/**
 * The next operations in the order of their turns. While new ones suffice, a quarter are returned
 * ones, so that others go beside them. A few of those that custody refused are added. Of both kinds
 * the longest due go first, so that vain retries do not block others.
 */
export async function listPlannedOperations(db: Queryable, limit: number): Promise<Operation[]> {
  const rows = await db.query<OperationRow>(sql`
    select ${COLUMNS} from (
      (select * from (
        (select *, row_number() over (order by turn) * 4 as place from operations where ${MAY_GO} and ${FIRST}
          order by turn limit ${limit})
        union all
        (select *, row_number() over (order by retry_at, turn) * 12 as place from operations where ${MAY_GO} and ${AGAIN}
          order by retry_at, turn limit ${limit})) as both_kinds
        order by place limit ${limit})
      union all
      (select *, 0 as place from operations where ${MAY_GO} and ${REFUSED} and ${DUE} order by retry_at limit ${REFUSED_AT_ONCE})) as next
    order by turn`);
  return rows.map(toOperation);
}

/** Number of operations that may go now, without refused ones, which take no room. */
export async function countPlannedOperations(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(
    sql`select count(*) from operations where ${MAY_GO} and ${FIRST}`,
  );
  return Number(count);
}

/**
 * Postpones planned operations with the reason. Those that custody refuses keep their reason, which
 * must be resolved first.
 */
export function postpone(
  db: Queryable,
  operations: OperationKey[],
  reason: string,
  delayMs: number,
): Promise<void> {
  const kept = sql`case when ${REFUSED} then wait_reason else ${reason} end`;
  return letWait(db, operations, kept, sql`make_interval(secs => ${delayMs / 1000})`);
}

/**
 * Postpones operations that custody refuses, doubling the pause up to a limit, so that they go soon
 * after the cause is resolved. Their turn stays.
 */
export function postponeRefused(db: Queryable, operations: OperationKey[], reason: string): Promise<void> {
  const twice = sql`case when ${REFUSED} then 2 * (retry_at - updated_at) end`;
  const delay = sql`least(interval '1 minute', greatest(interval '5 seconds', ${twice}))`;
  return letWait(db, operations, sql`${reason}`, delay);
}

/**
 * Postpones operations with a blocked payer or receiver, from a minute up to hours. A hold is
 * retried each minute, because its clock may run.
 */
export function postponeBlocked(db: Queryable, operations: OperationKey[], reason: string): Promise<void> {
  const twice = sql`case when o.kind <> 'INTENT_KIND_PLACE_HOLD' then 2 * (retry_at - updated_at) end`;
  const delay = sql`least(${LONGEST_BLOCKED_WAIT}, greatest(interval '1 minute', ${twice}))`;
  return letWait(db, operations, sql`${reason}`, delay);
}

/** Units that signed and unmined transactions are about to mint. */
export async function sumUnminedMints(db: Queryable): Promise<bigint> {
  const { units } = await db.one<{ units: bigint }>(sql`
    select coalesce(sum((step ->> 'amountWon')::numeric) * 1000000, 0) as units
    from transactions t
    join operations o on o.transaction_id = t.transaction_id and o.state = 'IN_FLIGHT'
    cross join lateral jsonb_array_elements(o.steps) as step
    where t.state in ('SIGNED', 'SENT') and step ->> 'kind' = 'MINT'`);
  return units;
}

/** Operations that another writer has sent meanwhile are left alone. */
async function letWait(db: Queryable, operations: OperationKey[], reason: Sql, delay: Sql): Promise<void> {
  await db.run(sql`
    update operations o set wait_reason = ${reason}, updated_at = now(), retry_at = now() + ${delay}
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as waiting (org_id, ledger_ref)
    where o.org_id = waiting.org_id and o.ledger_ref = waiting.ledger_ref and o.state = 'PLANNED'`);
}
