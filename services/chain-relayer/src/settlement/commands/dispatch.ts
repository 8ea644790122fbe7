import { type Log } from "@wonrail/kit/log";
import {
  countPendingTransactions,
  acquireLease,
  type Lease,
  LeaseLostError,
  recoverFromRetiredSigner,
  type WatchDeps,
  watchTransactions,
  renewLeaseDuring,
} from "../../sender";
import { planOperations, findPlanningRoom } from "./planOperations";
import { type PullDeps, pullEntries } from "./pullEntries";
import { releaseOperations } from "./releaseOperations";
import { sendBatches, type SendDeps } from "./sendBatches";
import { releasePayment, sendPayments } from "../../x402";

export type DispatchDeps = SendDeps &
  PullDeps &
  Omit<WatchDeps, "onReleased"> & {
    log: Log;
    /** Names this process among the replicas. */
    holder: string;
    leaseMs: number;
    maxInFlight: number;
    now: () => number;
  };

const MAX_ROUNDS = 10;

/**
 * One round of the active writer: pulls entries, plans and sends operations, and watches sent ones.
 * Other replicas stand by. Returns false without work.
 */
export async function dispatch(deps: DispatchDeps, signal: AbortSignal): Promise<boolean> {
  const { db, signer, holder, leaseMs, log } = deps;
  const lease = await acquireLease(db, signer.address, holder, leaseMs);
  if (!lease) return false;
  try {
    return await renewLeaseDuring(db, lease, leaseMs, () => round(deps, lease, signal));
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    log.warn("another replica has taken over");
    return false;
  }
}

async function round(deps: DispatchDeps, lease: Lease, signal: AbortSignal): Promise<boolean> {
  let found: boolean;
  try {
    const planned = await pullAndPlan(deps, lease, signal);
    const underWay = await sendPlanned(deps, lease, signal);
    found = planned || underWay;
  } catch (error) {
    // Sent transactions may be stuck or dropped while custody is away. The first error is thrown.
    await lookAfterSent(deps, lease).catch(() => undefined);
    throw error;
  }
  await lookAfterSent(deps, lease);
  return found;
}

/** Pulls and plans until enough is planned or no queue has more. Returns false without work. */
async function pullAndPlan(deps: DispatchDeps, lease: Lease, signal: AbortSignal): Promise<boolean> {
  let found = false;
  for (let round = 0; round < MAX_ROUNDS && !signal.aborted; round += 1) {
    if ((await findPlanningRoom(deps.db)) === 0) break;
    const pulled = await pullEntries(deps, signal);
    const planned = await planOperations(deps.db, lease);
    found ||= pulled > 0 || planned;
    if (pulled === 0) break;
  }
  return found;
}

/** True if transactions are in flight. */
async function sendPlanned(deps: DispatchDeps, lease: Lease, signal: AbortSignal): Promise<boolean> {
  const { db, signer, maxInFlight } = deps;
  // Merchants wait for payments by x402, so these go first. Their failure is thrown after settlement.
  const failure = await sendPayments(deps, lease, signal).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  let left = maxInFlight - (await countPendingTransactions(db, signer.address));
  for (let sent = left; sent > 0 && left > 0 && !signal.aborted; left -= sent)
    sent = await sendBatches(deps, lease, { maxTransactions: left, signal });
  if (failure) throw failure.error;
  return left < maxInFlight;
}

async function lookAfterSent(deps: DispatchDeps, lease: Lease): Promise<void> {
  const onReleased: WatchDeps["onReleased"] = async (tx, transactionId, reason) => {
    await releaseOperations(tx, transactionId, reason);
    await releasePayment(tx, transactionId);
  };
  const sender = { ...deps, onReleased };
  await watchTransactions(sender, lease);
  await recoverFromRetiredSigner(sender, lease);
}
