import { type Liveness } from "./liveness";
import { withTimeout } from "./waiting";

/** How long a stopping process waits for an answer of the bus, within its grace. */
export const LEAVE_TIMEOUT_MS = 3_000;
/** Limit for closing the whole bus: the outbox's relay has waited for its messages before. */
export const CLOSING_MS = 1_000;
const HANDLERS_TIMEOUT_MS = 12_000;

/**
 * Leaves a group. Waits for the running handler, and hardly for a silent bus. The group then misses
 * the last commit and the leave: the messages come again, to another member, once the session has
 * ended. Rejects on timeout.
 */
export async function leaveGroup(
  liveness: Pick<Liveness, "idle">,
  leave: () => Promise<void>,
): Promise<void> {
  const left = leave();
  left.catch(() => undefined);
  await withTimeout(HANDLERS_TIMEOUT_MS, "the handler did not end", liveness.idle());
  await withTimeout(LEAVE_TIMEOUT_MS, "the consumer did not close", left);
}
