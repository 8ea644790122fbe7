import { type Tx } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { appendEvents } from "@wonrail/kit/outbox";
import { isOutcome, type Outcome, placeOf } from "../../evm";
import { type FinalRange, findAddresses, findUsedAuthorizations } from "../../indexer";
import { decideNext, type Evidence, type Next } from "../domain/decideNext";
import { findMissingSteps } from "../domain/movement";
import { isLeg, walletsOf } from "../domain/steps";
import { operationsConfirmed } from "../events";
import { findEventOrigins, type EventOrigins } from "../queries/findEventOrigins";
import {
  findSettlementsByOthers,
  findRemainingSteps,
  type SettlingTransaction,
} from "../queries/settlementsByOthers";
import {
  type Confirmation,
  factsOf,
  findByOperationIds,
  listInFlightOf,
  markConfirmed,
  type Operation,
  replanOperations,
} from "../store/operations";

type Retry = Extract<Next, { do: "retry" }>;

/** Applies a range's outcomes to their operations. Returns the orders behind its events. */
export async function applyOutcomes(tx: Tx, range: FinalRange, network: string): Promise<EventOrigins> {
  const named = range.events.filter(isOutcome).map(({ operationId }) => operationId);
  const operations = await findByOperationIds(tx, [...new Set(named)]);
  const foreignOperationIds = await decideAll(tx, range, operations, network);
  // An operation whose name was used by another ordered none of its events.
  for (const operationId of foreignOperationIds) operations.delete(operationId);
  return findEventOrigins(tx, range, operations);
}

/**
 * Decides each operation separately and writes all at once. Returns the operation ids under which
 * the chain has executed another operation.
 */
async function decideAll(
  tx: Tx,
  range: FinalRange,
  operations: ReadonlyMap<string, Operation>,
  network: string,
): Promise<Set<string>> {
  const outcomes = range.events.filter(isOutcome).filter(({ operationId }) => operations.has(operationId));
  const refused = outcomes.flatMap((event) => (event.kind === "failed" ? [event.operationId] : []));
  const settled = await findSettlementsByOthers(
    tx,
    [...new Set(refused)].map((operationId) => operations.get(operationId)!),
  );
  const foreignOperationIds = await findForeignOperationIds(tx, range, outcomes, operations);
  const carried = countCarried(range);
  const confirmations = new Map<string, Confirmation>();
  const retries = new Map<string, { operation: Operation; retry: Retry }>();
  for (const event of outcomes) {
    const operation = operations.get(event.operationId)!;
    const other = settled.get(event.operationId);
    const next = decideNext(factsOf(operation), evidenceOf(event, other, foreignOperationIds));
    // Of several outcomes the first one that settles it counts; a failure counts only without one.
    if (next.do === "retry") retries.set(event.operationId, { operation, retry: next });
    if (next.do !== "confirm" || confirmations.has(event.operationId)) continue;
    confirmations.set(
      event.operationId,
      event.kind === "failed"
        ? { operation, ...other!, gasUsed: 0n }
        : confirmationBy(operation, event, range, carried),
    );
  }
  for (const operationId of confirmations.keys()) retries.delete(operationId);
  await replanAll(tx, [...retries.values()]);
  const confirmed = await markConfirmed(tx, [...confirmations.values()]);
  await appendEvents(tx, operationsConfirmed(confirmed, network));
  return foreignOperationIds;
}

/**
 * Ids of operations under whose name another operation was executed. A restored ledger gives new
 * entries the numbers of forgotten ones, and names follow from numbers.
 */
async function findForeignOperationIds(
  tx: Tx,
  { firsts, movements }: FinalRange,
  outcomes: Outcome[],
  operations: ReadonlyMap<string, Operation>,
): Promise<Set<string>> {
  const settled = outcomes.filter(({ kind }) => kind !== "failed");
  const named = walletsOf(settled.flatMap(({ operationId }) => operations.get(operationId)!.steps));
  const addresses = await findAddresses(tx, named);
  const foreignOperationIds = new Set<string>();
  for (const event of settled) {
    const { steps } = operations.get(event.operationId)!;
    const moved = movements.get(placeOf(firsts.get(event.operationId) ?? event)) ?? [];
    const leftOut = findMissingSteps(steps, moved, addresses);
    if (leftOut?.length === 0) continue;
    // Steps that others have executed are left out.
    const used = await findUsedAuthorizations(tx, (leftOut ?? []).filter(isLeg));
    const isOurs = leftOut && findRemainingSteps({ steps: leftOut }, used, addresses).length === 0;
    if (!isOurs) foreignOperationIds.add(event.operationId);
  }
  return foreignOperationIds;
}

/** Plans the operations again that a final transaction carried and did not execute. */
export async function replanUnexecuted(tx: Tx, transactionId: bigint, succeeded: boolean): Promise<void> {
  const operations = await listInFlightOf(tx, transactionId);
  const evidence: Evidence = { kind: "not_carried", reason: succeeded ? "not_executed" : "batch_reverted" };
  await replanAll(
    tx,
    operations.flatMap((operation) => {
      const next = decideNext(factsOf(operation), evidence);
      return next.do === "retry" ? [{ operation, retry: next }] : [];
    }),
  );
}

async function replanAll(tx: Tx, all: { operation: Operation; retry: Retry }[]): Promise<void> {
  for (const same of groupBy(all, ({ retry }) => `${retry.delayMs} ${retry.reason}`).values()) {
    const { reason, delayMs } = same[0]!.retry;
    await replanOperations(
      tx,
      same.map(({ operation }) => operation),
      reason,
      delayMs,
    );
  }
}

/** A failed operation moved nothing, but strangers may have submitted all its legs before. */
function evidenceOf(
  event: Outcome,
  settledBy: SettlingTransaction | undefined,
  foreignOperationIds: ReadonlySet<string>,
): Evidence {
  if (event.kind !== "failed")
    return { kind: foreignOperationIds.has(event.operationId) ? "name_taken" : "executed" };
  return { kind: "refused", reason: event.reason, settled: settledBy !== undefined };
}

function confirmationBy(
  operation: Operation,
  event: Outcome,
  { firsts, gasUsed }: FinalRange,
  carried: ReadonlyMap<string, number>,
): Confirmation {
  const { txHash, blockNumber, blockHash } = (firsts.get(event.operationId) ?? event).log;
  const share = (gasUsed.get(txHash) ?? 0n) / BigInt(carried.get(txHash) ?? 1);
  return { operation, txHash, blockNumber, blockHash, gasUsed: share };
}

/** How many operations each transaction has executed. */
function countCarried({ events }: FinalRange): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { kind, log } of events)
    if (kind === "executed") counts.set(log.txHash, (counts.get(log.txHash) ?? 0) + 1);
  return counts;
}
