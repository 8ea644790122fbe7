import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type OperationFacts } from "../domain/decideNext";
import { type Place } from "../domain/planning";
import { type Step } from "../domain/steps";

export interface NewOperation {
  orgId: string;
  ledgerRef: string;
  relatedId: string;
  kind: string;
  operationId: string;
  steps: Step[];
  requestId: string;
  traceparent: string;
  places: Place[];
  /** Since when it waits, if it did before it was an operation. */
  since?: Date;
}

export interface Operation extends Omit<NewOperation, "places" | "since"> {
  state: OperationFacts["state"];
  attempts: number;
  waitReason: string | null;
  transactionId: bigint | null;
  txHash: string | null;
  /** Of a hold that was refused for a cause of its own: until then it is tried. */
  expiresAt: Date | null;
  createdAt: Date;
}

export function isHold({ kind }: Pick<Operation, "kind">): boolean {
  return kind === "INTENT_KIND_PLACE_HOLD";
}

/** The facts that decide what is next. `latestEnd` is the latest end that custody has signed. */
export function factsOf({ state, attempts, expiresAt }: Operation, latestEnd = 0n): OperationFacts {
  const expires = expiresAt === null ? null : BigInt(Math.ceil(expiresAt.getTime() / 1000));
  const endsAt = expires !== null && expires < latestEnd ? latestEnd : expires;
  return { state, attempts, endsAt };
}

export interface OperationRow {
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

export const COLUMNS = sql`org_id, ledger_ref, related_id, kind, operation_id, steps, state, attempts, wait_reason, expires_at,
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
      insert into operations (org_id, ledger_ref, related_id, kind, operation_id, steps, from_wallets, state, blocked,
        request_id, traceparent, created_at)
      select org_id, ledger_ref, related_id, kind, operation_id, steps, string_to_array(payers, ' '), 'WAITING',
        case when ${headsHeld} then coalesce(blocked, 0) end, request_id, traceparent, coalesce(since, now())
      from unnest(
        ${operations.map((one) => one.orgId)}::text[],
        ${operations.map((one) => one.ledgerRef)}::text[],
        ${operations.map((one) => one.relatedId)}::text[],
        ${operations.map((one) => one.kind)}::text[],
        ${operations.map((one) => one.operationId)}::text[],
        ${steps.map((each) => JSON.stringify(each))}::jsonb[],
        ${payers.map((wallets) => [...wallets].join(" "))}::text[],
        ${operations.map((one) => one.requestId)}::text[],
        ${operations.map((one) => one.traceparent)}::text[],
        ${operations.map((one) => one.since ?? null)}::timestamptz[])
        as given (org_id, ledger_ref, related_id, kind, operation_id, steps, payers, request_id, traceparent, since)
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

export const HAS_UNEXPLAINED_MINT = sql`exists (
  select from drifts where acknowledged_at is null and wallet_id = '' and kind = 'UNEXPLAINED_MINT')`;

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
      and (cardinality(o.from_wallets) = 0 or not ${HAS_UNEXPLAINED_MINT})
      and not exists (select from drifts d where d.acknowledged_at is null and d.wallet_id = any(o.from_wallets))`);
  if (moved !== operations.length)
    throw new Error("an operation was sent by somebody else meanwhile, or its wallet has come into doubt");
}

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
    where org_id = ${orgId} and ledger_ref = ${ledgerRef} and state in ('WAITING', 'PLANNED', 'IN_FLIGHT')`);
  return changed === 1;
}

/** Field by field: copying it and changing one field's type took 7 % of this service's time. */
function toStored({ kind, fromWalletId, toWalletId, toAddress, amountWon, nonce }: Step): StoredStep {
  return { kind, fromWalletId, toWalletId, toAddress, amountWon: amountWon.toString(), nonce };
}

export function toOperation(row: OperationRow): Operation {
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
