import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { setQueuePause } from "../store/settlementQueues";

/** Starts no new operations of the organisation. False if it has no queue. */
export function pauseQueue(
  { db }: { db: Database },
  orgId: string,
  operator: ActingOperator,
): Promise<boolean> {
  return setPause(db, orgId, `${operator.reason} (${operator.name})`, operator);
}

/** Starts the operations of a paused organisation again. False if it has no queue. */
export function resumeQueue(
  { db }: { db: Database },
  orgId: string,
  operator: ActingOperator,
): Promise<boolean> {
  return setPause(db, orgId, null, operator);
}

function setPause(
  db: Database,
  orgId: string,
  pausedReason: string | null,
  operator: ActingOperator,
): Promise<boolean> {
  return tx(db, async (tx) => {
    const isKnown = await setQueuePause(tx, orgId, pausedReason);
    if (isKnown) await recordOperatorAction(tx, operator, { orgId, subject: orgId });
    return isKnown;
  });
}
