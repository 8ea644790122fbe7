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
import { HAS_SHELVED } from "./shelf";

// Operations that are given their turn and wait for it: what goes next, and what has to wait.

/** How the reasons begin for which custody does not sign. */
export const REFUSED_BY_CUSTODY = "custody_";
/** Asked for again and again, mostly in vain: however many they are, they must not stand before the others. */
export const REFUSED = sql`coalesce(starts_with(wait_reason, ${REFUSED_BY_CUSTODY}), false)`;
/**
 * Reasons that most likely hold for all of the organisation. Of so many refused for one of them no more of its lane is planned: it would mostly be
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

/** With fewer that it could plan a lane is given more, before it has none. */
const ENOUGH_READY = 500;

/**
 * Lanes with something on the shelf and little else to plan, the one first that was given some longest ago; of a paused one nothing is planned. What is behind
 * something that is still on the shelf, and of a wallet or a payer whose money stays for now, is not to be planned.
 */
export async function listHungryLanes(db: Queryable, limit: number): Promise<string[]> {
  const lanes = await db.query<{ org_id: string }>(sql`
    with ${FULL_PAYERS}
    select org_id from lanes
    where paused_reason is null
      and ${HAS_SHELVED}
      and not exists (
        select from operations o where o.org_id = lanes.org_id and o.state = 'WAITING' and o.blocked = 0 and ${MAY_LEAVE}
        offset ${ENOUGH_READY - 1})
    order by fed_at limit ${limit}`);
  return lanes.map((lane) => lane.org_id);
}

/**
 * Operations that may be near their turn: those whose turn it is, a share of each lane, the lane that was served longest ago first; and what
 * comes next on the same accounts. About as many as may be planned, however many wait. Those of a paused lane, of a lane or a payer of whom custody
 * refuses too many, or out of a wallet whose balance is in doubt are left out, and everything behind them on the same accounts waits with them. With them
 * come those that are settled before their turn, to be passed over.
 */
export async function listCandidates(tx: Tx, atMost: number): Promise<OperationKey[]> {
  const rows = await tx.query<{ org_id: string; ledger_ref: string }>(sql`
    with ${FULL_PAYERS},
    served as (
      select lanes.org_id, served_at from lanes
      where paused_reason is null
        and not exists (
          select from operations o where o.org_id = lanes.org_id and o.state = 'PLANNED' and ${REFUSED}
            and o.wait_reason = any(${REFUSED_TO_ALL}::text[]) offset ${REFUSED_AT_MOST - 1})
        and (exists (select from operations o where o.org_id = lanes.org_id and o.state = 'WAITING' and o.blocked = 0
            and ${MAY_LEAVE})
          or exists (select from operations o where o.org_id = lanes.org_id and o.state = 'CONFIRMED' and o.turn is null))
      order by served_at limit 100),
    early as (
      select o.org_id, o.ledger_ref from operations o join served using (org_id)
      where o.state = 'CONFIRMED' and o.turn is null and o.blocked is not null order by o.created_at limit ${atMost}),
    ready as (
      select turn.* from served cross join lateral (
        select o.org_id, o.ledger_ref from operations o
        where o.org_id = served.org_id and o.state = 'WAITING' and o.blocked = 0
          and ${MAY_LEAVE}
        order by o.created_at limit (select greatest(20, ${atMost}::bigint / count(*)) from served)) as turn
      union all select org_id, ledger_ref from early),
    accounts as (
      select distinct p.org_id, p.account_id from places p join ready using (org_id, ledger_ref)),
    near as (
      select next.org_id, next.ledger_ref from accounts a join account_heads h using (org_id, account_id)
      cross join lateral (
        select p.org_id, p.ledger_ref from places p
        where p.org_id = h.org_id and p.account_id = h.account_id and p.at_sequence >= h.next_sequence
        order by p.at_sequence limit (select least(500, 1 + 2 * ${atMost}::bigint / count(*)) from accounts)) as next
      union select org_id, ledger_ref from ready)
    select o.org_id, o.ledger_ref from operations o join near using (org_id, ledger_ref) join served using (org_id)
    where o.blocked is not null
      and (o.state = 'CONFIRMED' and o.turn is null or o.state = 'WAITING'
        and ${MAY_LEAVE})
    order by served.served_at, o.created_at`);
  return rows.map((row) => ({ orgId: row.org_id, ledgerRef: row.ledger_ref }));
}

/** Gives each its turn, in this order. What is settled already or has no steps is only passed over. */
export async function markPlanned(tx: Tx, operations: OperationKey[]): Promise<void> {
  const turns = await tx.query<{ turn: bigint }>(
    sql`select nextval('operation_turns') as turn from generate_series(1, ${operations.length}::integer) order by 1`,
  );
  await tx.run(sql`
    update operations o set updated_at = now(), turn = planned.turn,
      state = case when o.state = 'CONFIRMED' then o.state when jsonb_array_length(o.steps) = 0 then 'PASSED' else 'PLANNED' end
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[],
      ${turns.map(({ turn }) => turn)}::bigint[]) as planned (org_id, ledger_ref, turn)
    where o.org_id = planned.org_id and o.ledger_ref = planned.ledger_ref and o.turn is null
      and o.state in ('WAITING', 'CONFIRMED')`);
}

/** A hold whose clock is nearly over is not sent again if the last refusal was for a cause of its own. */
const IN_TIME = sql`(expires_at is null or expires_at > now() + interval '10 seconds' or not ${IS_OWN_CAUSE})`;

/** What is planned; nothing out of a wallet whose balance has come into doubt since, nor of a lane that was paused since. */
const MAY_GO = sql`state = 'PLANNED' and ${IN_TIME} and ${OUTFLOW_OPEN}
  and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(from_wallets))
  and org_id not in (select lanes.org_id from lanes where paused_reason is not null)`;

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
