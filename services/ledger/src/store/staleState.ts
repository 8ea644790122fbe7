/**
 * What was read before the locks is no longer true: another replica changed it, or a standby took over
 * without the last commits. The batch is tried again with nothing cached.
 */
export class StaleStateError extends Error {
  override readonly name = "StaleStateError";
}
