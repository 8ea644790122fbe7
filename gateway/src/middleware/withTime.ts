import { currentContext, runInContext } from "@wonrail/kit/context";

/** Time limit of each call for a streamed answer, which has no limit as a whole. */
const CALL_TIMEOUT_MS = 8_000;

/**
 * Runs a call with a deadline of its own, because the deadline of the request is that of the first
 * byte.
 */
export function withTime<T>(call: () => Promise<T>, timeoutMs = CALL_TIMEOUT_MS): Promise<T> {
  return runInContext({ ...currentContext()!, deadlineMs: Date.now() + timeoutMs }, call);
}
