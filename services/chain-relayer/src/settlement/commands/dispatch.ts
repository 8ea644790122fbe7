import { type Log } from "@wonrail/kit/log";
import {
  countPendingTransactions,
  holdLease,
  type Lease,
  LeaseLostError,
  recoverFromRetiredSigner,
  type WatchDeps,
  watchTransactions,
  whileHolding,
} from "../../sender";
import { planOperations } from "./planOperations";
import { type ShelfDeps, takeOffShelf } from "./takeOffShelf";
import { releaseOperations } from "./releaseOperations";
import { sendBatches, type SendDeps } from "./sendBatches";

export type DispatchDeps = SendDeps &
  ShelfDeps &
  Omit<WatchDeps, "onReleased"> & {
    log: Log;
    /** Names this process among the replicas. */
    holder: string;
    leaseMs: number;
    maxInFlight: number;
  };

/**
 * One round of the active writer: plan, send as much as may be in flight, watch what is sent.
 * The other replicas stand by. False if there was nothing to do.
 */
export async function dispatch(deps: DispatchDeps, signal: AbortSignal): Promise<boolean> {
  const { db, signer, holder, leaseMs, log } = deps;
  const lease = await holdLease(db, signer.address, holder, leaseMs);
  if (!lease) return false;
  try {
    return await whileHolding(db, lease, leaseMs, () => round(deps, lease, signal));
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    log.warn("another replica has taken over");
    return false;
  }
}

async function round(deps: DispatchDeps, lease: Lease, signal: AbortSignal): Promise<boolean> {
  let found: boolean;
  try {
    // If the shelf fails, other operations are planned and sent all the same.
    const fed = await takeOffShelf(deps, signal).catch((error: unknown) => {
      deps.log.warn({ err: error }, "nothing came off the shelf");
      return true;
    });
    const planned = await planOperations(deps.db, lease);
    const underWay = await sendPlanned(deps, lease, signal);
    found = fed || planned || underWay;
  } catch (error) {
    // While custody is away, sent transactions may be stuck or dropped. Of two errors the first
    // is thrown.
    await lookAfterSent(deps, lease).catch(() => undefined);
    throw error;
  }
  await lookAfterSent(deps, lease);
  return found;
}

/** True if transactions are in flight. */
async function sendPlanned(deps: DispatchDeps, lease: Lease, signal: AbortSignal): Promise<boolean> {
  const { db, signer, maxInFlight } = deps;
  let left = maxInFlight - (await countPendingTransactions(db, signer.address));
  for (let sent = left; sent > 0 && left > 0 && !signal.aborted; left -= sent)
    sent = await sendBatches(deps, lease, { maxTransactions: left, signal });
  return left < maxInFlight;
}

async function lookAfterSent(deps: DispatchDeps, lease: Lease): Promise<void> {
  const sender = { ...deps, onReleased: releaseOperations };
  await watchTransactions(sender, lease);
  await recoverFromRetiredSigner(sender, lease);
}
