import { type Deps } from "./deps";
import { deleteEndedFailures } from "../store/failedAttempts";

const AT_ONCE = 500;

/**
 * Deletes counts whose window has ended. It repeats batches until none is left, because guesses can
 * outpace one batch per round.
 */
export async function deleteOldFailures({ db }: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await deleteEndedFailures(db, AT_ONCE)) < AT_ONCE) return;
  }
}
