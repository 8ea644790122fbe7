import { type Deps } from "../app";
import { deleteEndedFailures } from "../store/failedAttempts";

const AT_ONCE = 500;

/** Counts whose window is over say nothing any more. One batch a round would fall behind what guessers leave, for good. */
export async function deleteOldFailures({ db }: Deps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await deleteEndedFailures(db, AT_ONCE)) < AT_ONCE) return;
  }
}
