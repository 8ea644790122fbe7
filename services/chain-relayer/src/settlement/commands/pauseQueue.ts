import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { lockQueuePause, setQueuePause } from "../store/settlementQueues";

/** Starts no new operations of the organisation. False if it has no queue. */
export function pauseQueue(
  { db }: { db: Database },
  orgId: string,
  operator: ActingOperator,
): Promise<boolean> {
  const pausedReason = `${operator.reason} (${operator.name})`;
  return tx(db, async (tx) => {
    const isKnown = await setQueuePause(tx, orgId, pausedReason);
    if (isKnown) await recordOperatorAction(tx, operator, { orgId, subject: orgId });
    return isKnown;
  });
}

/** Starts the operations of a paused organisation again. False if its queue is not paused. */
export function resumeQueue(
  { db }: { db: Database },
  orgId: string,
  operator: ActingOperator,
): Promise<boolean> {
  return tx(db, async (tx) => {
    const pausedReason = await lockQueuePause(tx, orgId);
    if (pausedReason === null) return false;
    await setQueuePause(tx, orgId, null);
    const effect = `Settle the operations of ${orgId} again. It is paused for this reason: ${pausedReason}.`;
    await recordOperatorAction(tx, operator, { orgId, subject: orgId, effect });
    return true;
  });
}
