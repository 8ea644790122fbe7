import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { assert, DomainError } from "@wonrail/kit/contract/errors";
import { type Database, tx } from "@wonrail/kit/db";
import { type Provider } from "../../evm";
import { pauseQueues } from "../../settlement";
import { findRestore, insertRestore, type Restore } from "../store/restores";

export interface PrepareDeps {
  db: Database;
  provider: Pick<Provider, "finalBlock">;
  /** Creates the queues of organisations whose journal this database has never seen. */
  correctHeads: (signal: AbortSignal) => Promise<void>;
}

export interface Prepared {
  restore: Restore;
  /** Queues that the restore has paused. */
  pausedQueues: number;
}

/**
 * Pauses the queues of all organisations and notes the chain's newest final block. A queue that was
 * paused before keeps its reason, and stays paused after the restore.
 */
export async function prepareRestore(
  { db, provider, correctHeads }: PrepareDeps,
  operator: ActingOperator,
  signal: AbortSignal,
): Promise<Prepared> {
  const block = await provider.finalBlock();
  if (block === null) throw new DomainError("SYS_002");
  await correctHeads(signal);
  const { name: preparedBy, reason } = operator;
  return tx(db, async (tx) => {
    const restore = await insertRestore(tx, { preparedBy, reason, finalBlock: block.number });
    if (!restore) {
      const underWay = await findRestore(tx);
      assert(underWay, "a restore that could not be inserted is under way");
      return { restore: underWay, pausedQueues: 0 };
    }
    const pausedQueues = await pauseQueues(tx, pauseReasonOf(restore));
    const details = { finalBlock: restore.finalBlock.toString(), pausedQueues };
    await recordOperatorAction(tx, operator, { subject: `restore ${restore.restoreId}`, details });
    return { restore, pausedQueues };
  });
}

/** Marks the queues that this restore has paused, and no others. */
export function pauseReasonOf({ restoreId, reason, preparedBy }: Restore): string {
  return `restore ${restoreId}: ${reason} (${preparedBy})`;
}
