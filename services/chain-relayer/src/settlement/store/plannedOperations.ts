import { type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { IS_OWN_CAUSE } from "./holds";
import {
  COLUMNS,
  HAS_UNEXPLAINED_MINT,
  type Operation,
  type OperationKey,
  type OperationRow,
  toOperation,
} from "./operations";

// Operations that are given their turn and wait for it: what goes next, and what has to wait.

/** How the reasons begin for which custody does not sign. */
export const REFUSED_BY_CUSTODY = "custody_";
/** Asked for again and again, mostly in vain: however many they are, they must not stand before the others. */
export const REFUSED = sql`coalesce(starts_with(wait_reason, ${REFUSED_BY_CUSTODY}), false)`;
/**
 * Reasons that most likely hold for all of the organisation. Of so many refused for one of them no more of its queue is planned: it would mostly be
 * refused as well, and each that is planned is asked for.
 */
const REFUSED_TO_ALL = [
  ...["key_unavailable", "over_organisation_limit", "over_global_limit"],
  ...["wrong_chain", "wrong_token", "horizon", "expired", "refused"],
].map((reason) => REFUSED_BY_CUSTODY + reason);
/** The one that holds for all that leaves the same wallets: no more of that is planned. All other reasons are an operation's own, and hold up nothing. */
const REFUSED_TO_PAYER = `${REFUSED_BY_CUSTODY}over_wallet_limit`;
const REFUSED_AT_MOST = 1_000;
/** So many go along with what is sent, however many may be asked for again. */
const REFUSED_AT_ONCE = 200;

/** Of whom custody refuses too many. */
const FULL_PAYERS = sql`full_payers as (
      select org_id, from_wallets from operations where state = 'PLANNED' and ${REFUSED} and wait_reason = ${REFUSED_TO_PAYER}
      group by org_id, from_wallets having count(*) >= ${REFUSED_AT_MOST})`;
/** No outflow while a mint is open that nobody has ordered: somebody else may have the operator's key. */
const OUTFLOW_OPEN = sql`(cardinality(from_wallets) = 0 or not ${HAS_UNEXPLAINED_MINT})`;
/** No drift is open that stops the outflow of its wallets. */
const MAY_LEAVE = sql`${OUTFLOW_OPEN}
  and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets))
  and not exists (select from full_payers f where f.org_id = o.org_id and f.from_wallets = o.from_wallets)`;

/**
 * Queues with operations to plan, the one served longest ago first. Paused queues are left out, and
 * those of which custody refuses too many operations.
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
  /** BLOCKED, or its payer's money may not leave now. */
  isStuck: boolean;
  isBlocked: boolean;
  /** The last walk found it held up. */
  isHeldUp: boolean;
}

/** The queue of one organisation, in the order of its journal. */
export async function listQueue(tx: Tx, orgId: string): Promise<QueuedRow[]> {
  return tx.query<QueuedRow>(sql`
    with ${FULL_PAYERS}
    select org_id as "orgId", ledger_ref as "ledgerRef", wallets, state = 'BLOCKED' as "isBlocked",
      state = 'BLOCKED' or not (${MAY_LEAVE}) as "isStuck", wait_reason is not null as "isHeldUp"
    from operations o where o.org_id = ${orgId} and state in ('WAITING', 'BLOCKED')
    order by org_sequence, ledger_ref`);
}

/** Gives each its turn, in this order. */
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

/** Says of waiting operations that something before them on their wallets cannot go. */
export async function markHeldUp(tx: Tx, operations: OperationKey[]): Promise<void> {
  if (operations.length === 0) return;
  await tx.run(sql`
    update operations o set wait_reason = ${HELD_UP}
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as held (org_id, ledger_ref)
    where o.org_id = held.org_id and o.ledger_ref = held.ledger_ref and o.state = 'WAITING'`);
}

/** Why a waiting operation was not planned, other than for room. */
export const HELD_UP = "held_up";

/** A hold whose clock is nearly over is not sent again if the last refusal was for a cause of its own. */
const IN_TIME = sql`(expires_at is null or expires_at > now() + interval '10 seconds' or not ${IS_OWN_CAUSE})`;

/** Planned operations, but those of wallets with a newer drift and of queues that were paused since. */
const MAY_GO = sql`state = 'PLANNED' and ${IN_TIME} and ${OUTFLOW_OPEN}
  and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(from_wallets))
  and org_id not in (select q.org_id from settlement_queues q where q.paused_reason is not null)`;

const LONGEST_BLOCKED_WAIT = sql`interval '4 hours'`;
/** No retry waits longer, so one that does was written before the database's clock was set back. */
export const LONGEST_WAIT = sql`case when wait_reason = 'AccountBlocked' then interval '5 hours' else interval '15 minutes' end`;
const DUE = sql`retry_at <= now()`;
/** Never sent, and not refused by custody. */
const FIRST = sql`attempts = 0 and not ${REFUSED} and (${DUE} or retry_at > now() + ${LONGEST_WAIT})`;
/** Sent before, and put back: mostly because the chain has refused it, and will again. */
const AGAIN = sql`attempts > 0 and not ${REFUSED} and ${DUE}`;

/**
 * What goes next, in the order of the turns. While there is enough that was never sent, every fourth is one that came back: however many of these
 * are due, others go beside them. Of those that custody has refused a few go along. Of both the ones that have been due longest: what is tried to no avail
 * must not stand before what would go by now.
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

/** How many may go now, but for those that were refused before, by custody or the chain: they take no room from others. */
export async function countPlannedOperations(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(
    sql`select count(*) from operations where ${MAY_GO} and ${FIRST}`,
  );
  return Number(count);
}

/** Lets planned operations wait, with the reason; those that custody refuses keep theirs, which is to be resolved first. */
export function postpone(
  db: Queryable,
  operations: OperationKey[],
  reason: string,
  delayMs: number,
): Promise<void> {
  const kept = sql`case when ${REFUSED} then wait_reason else ${reason} end`;
  return letWait(db, operations, kept, sql`make_interval(secs => ${delayMs / 1000})`);
}

/** Lets those wait that custody refuses: twice as long each time, and not for long once the cause is resolved. Their turn stays. */
export function postponeRefused(db: Queryable, operations: OperationKey[], reason: string): Promise<void> {
  const twice = sql`case when ${REFUSED} then 2 * (retry_at - updated_at) end`;
  const delay = sql`least(interval '1 minute', greatest(interval '5 seconds', ${twice}))`;
  return letWait(db, operations, sql`${reason}`, delay);
}

/**
 * Lets operations wait whose payer or receiver is blocked on the chain: from a minute to hours. A
 * hold is tried each minute, since its clock may run.
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

/** What another writer has sent meanwhile is that one's. */
async function letWait(db: Queryable, operations: OperationKey[], reason: Sql, delay: Sql): Promise<void> {
  await db.run(sql`
    update operations o set wait_reason = ${reason}, updated_at = now(), retry_at = now() + ${delay}
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as waiting (org_id, ledger_ref)
    where o.org_id = waiting.org_id and o.ledger_ref = waiting.ledger_ref and o.state = 'PLANNED'`);
}
