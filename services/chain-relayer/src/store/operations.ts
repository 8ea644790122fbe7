import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { type OperationFacts } from "../domain/decideNext";
import { type Place } from "../domain/planning";
import { type Step } from "../domain/settlement";

export interface NewOperation {
  orgId: string;
  ledgerRef: string;
  relatedId: string;
  kind: string;
  operationId: string;
  steps: Step[];
  expiresAt: Date | null;
  requestId: string;
  traceparent: string;
  places: Place[];
}

export interface Operation extends Omit<NewOperation, "places"> {
  state: OperationFacts["state"];
  attempts: number;
  waitReason: string | null;
  transactionId: bigint | null;
  txHash: string | null;
  createdAt: Date;
}

/** What decides what comes next. */
export function factsOf({ state, attempts, expiresAt }: Operation): OperationFacts {
  const endsAt = expiresAt === null ? null : BigInt(Math.ceil(expiresAt.getTime() / 1000));
  return { state, attempts, endsAt };
}

interface OperationRow {
  org_id: string;
  ledger_ref: string;
  related_id: string;
  kind: string;
  operation_id: string;
  steps: StoredStep[];
  state: Operation["state"];
  attempts: number;
  wait_reason: string | null;
  expires_at: Date | null;
  transaction_id: bigint | null;
  tx_hash: string | null;
  request_id: string;
  traceparent: string;
  created_at: Date;
}

type StoredStep = Omit<Step, "amountWon"> & { amountWon: string };

const COLUMNS = sql`org_id, ledger_ref, related_id, kind, operation_id, steps, state, attempts, wait_reason, expires_at,
  transaction_id, tx_hash, request_id, traceparent, created_at`;

/**
 * Writes down operations with their places and legs, each once. While the heads are held (`holdHeads`), each is sorted in at once: on how many
 * accounts must something go before it? Otherwise the planner does that.
 */
export function insertOperations(tx: Tx, operations: NewOperation[], headsHeld: boolean): void {
  const steps = operations.map((operation) => operation.steps.map(toStored));
  const payers = operations.map((operation) => new Set(legsOf(operation).map((leg) => leg.fromWalletId)));
  const places = operations.flatMap(({ orgId, ledgerRef, ...of }) =>
    of.places.map((place) => ({ orgId, ledgerRef, ...place })),
  );
  const legs = operations.flatMap((operation) =>
    legsOf(operation).map(({ fromWalletId, nonce }) => ({
      orgId: operation.orgId,
      ledgerRef: operation.ledgerRef,
      fromWalletId,
      nonce,
    })),
  );
  tx.push(
    named(
      "insert_operations",
      sql`
    with place as materialized (
      select place.*, head.next_sequence
      from unnest(
        ${places.map((place) => place.orgId)}::text[],
        ${places.map((place) => place.ledgerRef)}::text[],
        ${places.map((place) => place.accountId)}::text[],
        ${places.map((place) => place.atSequence)}::bigint[],
        ${places.map((place) => place.movesTo)}::bigint[])
        as place (org_id, ledger_ref, account_id, at_sequence, moves_to)
      left join account_heads head using (org_id, account_id)),
    sorted as (
      select org_id, ledger_ref, count(*) filter (where at_sequence > coalesce(next_sequence, 1))::integer as blocked
      from place group by org_id, ledger_ref),
    begun as (
      insert into account_heads (org_id, account_id)
      select distinct org_id, account_id from place where ${headsHeld} and next_sequence is null order by 1, 2
      on conflict do nothing),
    added as (
      insert into operations (org_id, ledger_ref, related_id, kind, operation_id, steps, from_wallets, state, blocked, expires_at,
        request_id, traceparent)
      select org_id, ledger_ref, related_id, kind, operation_id, steps, string_to_array(payers, ' '), 'WAITING',
        case when ${headsHeld} then coalesce(blocked, 0) end, expires_at, request_id, traceparent
      from unnest(
        ${operations.map((one) => one.orgId)}::text[],
        ${operations.map((one) => one.ledgerRef)}::text[],
        ${operations.map((one) => one.relatedId)}::text[],
        ${operations.map((one) => one.kind)}::text[],
        ${operations.map((one) => one.operationId)}::text[],
        ${steps.map((each) => JSON.stringify(each))}::jsonb[],
        ${payers.map((wallets) => [...wallets].join(" "))}::text[],
        ${operations.map((one) => one.expiresAt)}::timestamptz[],
        ${operations.map((one) => one.requestId)}::text[],
        ${operations.map((one) => one.traceparent)}::text[])
        as given (org_id, ledger_ref, related_id, kind, operation_id, steps, payers, expires_at, request_id, traceparent)
      left join sorted using (org_id, ledger_ref)
      on conflict (org_id, ledger_ref) do nothing returning org_id, ledger_ref),
    lane as (insert into lanes (org_id) select distinct org_id from added order by 1 on conflict do nothing),
    placed as (
      insert into places (org_id, account_id, at_sequence, ledger_ref, moves_to)
      select org_id, account_id, at_sequence, ledger_ref, moves_to from place join added using (org_id, ledger_ref))
    insert into legs (from_wallet_id, nonce, org_id, ledger_ref)
    select from_wallet_id, nonce, org_id, ledger_ref
    from unnest(
      ${legs.map((leg) => leg.orgId)}::text[],
      ${legs.map((leg) => leg.ledgerRef)}::text[],
      ${legs.map((leg) => leg.fromWalletId)}::text[],
      ${legs.map((leg) => leg.nonce)}::text[])
      as leg (org_id, ledger_ref, from_wallet_id, nonce) join added using (org_id, ledger_ref)`,
    ),
  );
}

function legsOf({ steps }: NewOperation): Step[] {
  return steps.filter((step) => step.fromWalletId !== null);
}

/** What names an operation here. */
export type OperationKey = Pick<Operation, "orgId" | "ledgerRef">;

/** How the reasons begin for which custody does not sign. */
export const REFUSED_BY_CUSTODY = "custody_";
/** Asked for again and again, mostly in vain: however many they are, they must not stand before the others. */
const REFUSED = sql`coalesce(starts_with(wait_reason, ${REFUSED_BY_CUSTODY}), false)`;
/** Of a lane with so many of them no more is planned: it would mostly be refused as well, and what is planned is looked through in each round. */
const REFUSED_OF_LANE = 1_000;
/** So many go along with what is sent, however many may be asked for again. */
const REFUSED_AT_ONCE = 200;

/**
 * Operations that may be near their turn: those whose turn it is, a share of each lane, the lane that was served longest ago first; and what
 * comes next on the same accounts. About as many as may be planned, however many wait. Those of a paused lane, of one of which custody refuses too many, or
 * out of a wallet whose balance is in doubt are left out, and everything behind them on the same accounts waits with them. With them come those that are
 * settled before their turn, to be passed over.
 */
export async function listCandidates(tx: Tx, atMost: number): Promise<OperationKey[]> {
  const rows = await tx.query<{ org_id: string; ledger_ref: string }>(sql`
    with refused as (
      select org_id from operations where state = 'PLANNED' and ${REFUSED} group by org_id having count(*) >= ${REFUSED_OF_LANE}),
    served as (
      select lanes.org_id, served_at from lanes
      where paused_reason is null and org_id not in (select org_id from refused)
        and (exists (select from operations o where o.org_id = lanes.org_id and o.state = 'WAITING' and o.blocked = 0
            and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets)))
          or exists (select from operations o where o.org_id = lanes.org_id and o.state = 'CONFIRMED' and o.turn is null))
      order by served_at limit 100),
    early as (
      select o.org_id, o.ledger_ref from operations o join served using (org_id)
      where o.state = 'CONFIRMED' and o.turn is null and o.blocked is not null order by o.created_at limit ${atMost}),
    ready as (
      select turn.* from served cross join lateral (
        select o.org_id, o.ledger_ref from operations o
        where o.org_id = served.org_id and o.state = 'WAITING' and o.blocked = 0
          and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets))
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
        and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets)))
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

/** A hold whose time is nearly over is not sent any more: it is given up. */
const IN_TIME = sql`(expires_at is null or expires_at > now() + interval '10 seconds')`;

/** What is planned and due; nothing out of a wallet whose balance has come into doubt since. */
const MAY_GO = sql`state = 'PLANNED' and retry_at <= now() and ${IN_TIME}
  and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(from_wallets))`;

/**
 * What goes next, in its order; with a few of those that custody has refused before. Of these the ones that have been due longest: those of which custody
 * has been asked to no avail must not stand before what it would sign by now.
 */
export async function listPlannedOperations(db: Queryable, limit: number): Promise<Operation[]> {
  const rows = await db.query<OperationRow>(sql`
    select ${COLUMNS} from (
      (select * from operations where ${MAY_GO} and not ${REFUSED} order by turn limit ${limit})
      union all
      (select * from operations where ${MAY_GO} and ${REFUSED} order by retry_at limit ${REFUSED_AT_ONCE})) as next
    order by turn`);
  return rows.map(toOperation);
}

/** How many may go now, but for those that were refused before: they take no room from others. */
export async function countPlannedOperations(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(
    sql`select count(*) from operations where ${MAY_GO} and not ${REFUSED}`,
  );
  return Number(count);
}

/** Binds planned operations to the transaction that carries them: from here on they can no longer be stopped. */
export async function markInFlight(
  tx: Tx,
  operations: Operation[],
  transactionId: bigint,
  txHash: string,
): Promise<void> {
  const moved = await tx.run(sql`
    update operations o set state = 'IN_FLIGHT', transaction_id = ${transactionId}, tx_hash = ${txHash}, wait_reason = null,
      attempts = attempts + 1, updated_at = now()
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as sent (org_id, ledger_ref)
    where o.org_id = sent.org_id and o.ledger_ref = sent.ledger_ref and o.state = 'PLANNED'
      and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets))`);
  if (moved !== operations.length)
    throw new Error("an operation was sent by somebody else meanwhile, or its wallet has come into doubt");
}

/** Lets planned operations wait, with the reason; those that custody refuses keep theirs, which is to be mended first. */
export function postpone(
  db: Queryable,
  operations: OperationKey[],
  reason: string,
  delayMs: number,
): Promise<void> {
  const kept = sql`case when ${REFUSED} then wait_reason else ${reason} end`;
  return letWait(db, operations, kept, sql`make_interval(secs => ${delayMs / 1000})`);
}

/** Lets those wait that custody refuses: twice as long each time, and not for long once the cause is mended. Their turn stays. */
export function postponeRefused(db: Queryable, operations: OperationKey[], reason: string): Promise<void> {
  const twice = sql`case when ${REFUSED} then 2 * (retry_at - updated_at) end`;
  const delay = sql`least(interval '1 minute', greatest(interval '5 seconds', ${twice}))`;
  return letWait(db, operations, sql`${reason}`, delay);
}

/** What another writer has sent meanwhile is that one's. */
async function letWait(db: Queryable, operations: OperationKey[], reason: Sql, delay: Sql): Promise<void> {
  await db.run(sql`
    update operations o set wait_reason = ${reason}, updated_at = now(), retry_at = now() + ${delay}
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as waiting (org_id, ledger_ref)
    where o.org_id = waiting.org_id and o.ledger_ref = waiting.ledger_ref and o.state = 'PLANNED'`);
}

/** Nodes have refused what a transaction of these may cost. */
export const COST_TOO_HIGH = "cost_too_high";

/** Puts operations back to be sent again later, with the reason why they wait. */
export async function putBack(
  tx: Queryable,
  operations: OperationKey[],
  reason: string,
  delayMs: number,
): Promise<void> {
  await tx.run(sql`
    update operations o set state = 'PLANNED', transaction_id = null, wait_reason = ${reason}, updated_at = now(),
      retry_at = now() + make_interval(secs => ${delayMs / 1000})
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as back (org_id, ledger_ref)
    where o.org_id = back.org_id and o.ledger_ref = back.ledger_ref and o.state in ('PLANNED', 'IN_FLIGHT')`);
}

export async function listInFlightOf(tx: Queryable, transactionId: bigint): Promise<Operation[]> {
  const rows = await tx.query<OperationRow>(sql`
    select ${COLUMNS} from operations where transaction_id = ${transactionId} and state = 'IN_FLIGHT'`);
  return rows.map(toOperation);
}

export async function findByOperationIds(
  tx: Queryable,
  operationIds: string[],
): Promise<Map<string, Operation>> {
  const rows = await tx.query<OperationRow>(
    sql`select ${COLUMNS} from operations where operation_id = any(${operationIds}::text[])`,
  );
  return new Map(rows.map((row) => [row.operation_id, toOperation(row)]));
}

export interface Confirmation {
  operation: Operation;
  txHash: string;
  blockNumber: bigint;
  blockHash: string;
  gasUsed: bigint;
}

/** Answers those that were not final before. */
export async function markConfirmed(tx: Tx, confirmations: Confirmation[]): Promise<Confirmation[]> {
  if (confirmations.length === 0) return [];
  const changed = await tx.query<{ org_id: string; ledger_ref: string }>(sql`
    update operations o set state = 'CONFIRMED', tx_hash = final.tx_hash, block_number = final.block_number,
      block_hash = final.block_hash, gas_used = final.gas_used, wait_reason = null, updated_at = now()
    from unnest(
      ${confirmations.map(({ operation }) => operation.orgId)}::text[],
      ${confirmations.map(({ operation }) => operation.ledgerRef)}::text[],
      ${confirmations.map((one) => one.txHash)}::text[],
      ${confirmations.map((one) => one.blockNumber)}::bigint[],
      ${confirmations.map((one) => one.blockHash)}::text[],
      ${confirmations.map((one) => one.gasUsed)}::bigint[]) as final (org_id, ledger_ref, tx_hash, block_number, block_hash, gas_used)
    where o.org_id = final.org_id and o.ledger_ref = final.ledger_ref and o.state not in ('CONFIRMED', 'FAILED')
    returning o.org_id, o.ledger_ref`);
  const keys = new Set(changed.map((row) => `${row.org_id}|${row.ledger_ref}`));
  return confirmations.filter(({ operation }) => keys.has(`${operation.orgId}|${operation.ledgerRef}`));
}

export interface FailureProof {
  reason: string;
  blockNumber: bigint;
  blockHash: string;
  blockTime: bigint;
}

export async function markFailed(
  tx: Tx,
  { orgId, ledgerRef }: Operation,
  proof: FailureProof,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update operations set state = 'FAILED', failure_reason = ${proof.reason}, proof_block_number = ${proof.blockNumber},
      proof_block_hash = ${proof.blockHash}, proof_block_time = ${proof.blockTime}, updated_at = now()
    where org_id = ${orgId} and ledger_ref = ${ledgerRef} and state in ('WAITING', 'PLANNED')`);
  return changed === 1;
}

/** Holds whose time is over and that are in no transaction: candidates to be given up. */
export async function listExpiredOperations(db: Queryable, limit: number): Promise<Operation[]> {
  const rows = await db.query<OperationRow>(sql`
    select ${COLUMNS} from operations where state in ('WAITING', 'PLANNED') and expires_at < now() order by expires_at limit ${limit}`);
  return rows.map(toOperation);
}

/** Field by field: copying it and changing one field's type took 7 % of this service's time. */
function toStored({ kind, fromWalletId, toWalletId, toAddress, amountWon, nonce }: Step): StoredStep {
  return { kind, fromWalletId, toWalletId, toAddress, amountWon: amountWon.toString(), nonce };
}

function toOperation(row: OperationRow): Operation {
  return {
    orgId: row.org_id,
    ledgerRef: row.ledger_ref,
    relatedId: row.related_id,
    kind: row.kind,
    operationId: row.operation_id,
    steps: row.steps.map((step) => ({ ...step, amountWon: BigInt(step.amountWon) as Step["amountWon"] })),
    state: row.state,
    attempts: row.attempts,
    waitReason: row.wait_reason,
    expiresAt: row.expires_at,
    transactionId: row.transaction_id,
    txHash: row.tx_hash,
    requestId: row.request_id,
    traceparent: row.traceparent,
    createdAt: row.created_at,
  };
}
