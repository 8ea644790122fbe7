import { type Movement } from "./liveness";
import { within } from "./waiting";

/** How long an answer of the bus is waited for by whoever stops. A process has to be through with all that it closes in its grace. */
export const FAREWELL_MS = 3_000;
/** Of a whole bus: the outbox's relay has waited for what it published before. */
export const CLOSING_MS = 1_000;
const HANDLERS_TIMEOUT_MS = 12_000;

/**
 * Leaves a group: what is being handled is waited for, a bus that does not answer hardly. It then hears neither of what was done last nor that somebody has
 * gone: that comes again, to another, once the lease has ended. Rejects when it could not be done in time.
 */
export async function leaveInTime(
  movement: Pick<Movement, "idle">,
  leave: () => Promise<void>,
): Promise<void> {
  const left = leave();
  left.catch(() => undefined);
  await within(HANDLERS_TIMEOUT_MS, "the handler did not end", movement.idle());
  await within(FAREWELL_MS, "the consumer did not close", left);
}
