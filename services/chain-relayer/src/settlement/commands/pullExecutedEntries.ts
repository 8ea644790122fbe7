import { isOutcome } from "../../evm";
import { type FinalRange } from "../../indexer";
import { findByOperationIds } from "../store/operations";
import { correctHeads } from "./correctHeads";
import { pullAll, type PullDeps } from "./pullEntries";

/**
 * Pulls every journal when the chain executed an unknown operation, as after a restore of this
 * database.
 */
export async function pullExecutedEntries(deps: PullDeps, { events }: FinalRange): Promise<void> {
  const executed = events.filter(isOutcome).map(({ operationId }) => operationId);
  if (executed.length === 0) return;
  const known = await findByOperationIds(deps.db, executed);
  if (executed.every((operationId) => known.has(operationId))) return;
  deps.log.warn("the chain has executed an unknown operation: all journals are pulled");
  await correctHeads(deps, new AbortController().signal);
  await pullAll(deps);
}
