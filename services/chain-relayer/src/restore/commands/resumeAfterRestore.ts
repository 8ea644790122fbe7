import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { unpauseQueues } from "../../settlement";
import { findObstaclesOf } from "../queries/getRestore";
import { endRestore, lockRestore } from "../store/restores";
import { pauseReasonOf } from "./prepareRestore";

/**
 * Ends the restore that is under way. Returns the reasons why it cannot end, or "none" when there is
 * no restore.
 */
export function resumeAfterRestore(
  { db }: { db: Database },
  operator: ActingOperator,
): Promise<string[] | "none"> {
  return tx(db, async (tx) => {
    const restore = await lockRestore(tx);
    if (!restore) return "none";
    const obstacles = await findObstaclesOf(tx, restore);
    if (obstacles.length > 0) return obstacles;
    await unpauseQueues(tx, pauseReasonOf(restore));
    await endRestore(tx, restore.restoreId);
    const subject = `restore ${restore.restoreId}`;
    const effect = `End ${subject}. The queues that it paused settle again.`;
    await recordOperatorAction(tx, operator, { subject, effect });
    return [];
  });
}
