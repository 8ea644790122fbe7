import { type Log } from "@wonrail/kit/log";
import { countOpenTransactions, holdLease, LeaseLostError, releaseLease } from "../store/transactions";
import { planOperations } from "./planOperations";
import { sendBatch, type SendDeps } from "./sendBatch";
import { watchTransactions, type WatchDeps } from "./watchTransactions";

export type DispatchDeps = SendDeps &
  WatchDeps & {
    log: Log;
    /** Names this process among the replicas. */
    holder: string;
    leaseMs: number;
    maxInFlight: number;
  };

/** One round of the one active writer: plan, send as much as may be under way, look after what is. The other replicas stand by. */
export async function dispatch(deps: DispatchDeps, signal: AbortSignal): Promise<void> {
  const { db, signer, holder, leaseMs, maxInFlight, log } = deps;
  const lease = await holdLease(db, signer.address, holder, leaseMs);
  if (!lease) return;
  try {
    await planOperations(db, lease);
    let open = await countOpenTransactions(db, signer.address);
    while (!signal.aborted && open < maxInFlight && (await sendBatch(deps, lease))) open += 1;
    await watchTransactions(deps, lease);
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error;
    log.warn("another replica has taken over");
  }
  if (signal.aborted) await releaseLease(db, lease);
}
