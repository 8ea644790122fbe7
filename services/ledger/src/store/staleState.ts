/**
 * State that was read before the locks has changed: another replica changed it, or a standby took over
 * without the last commits. The engine retries the batch with an empty cache.
 */
export class StaleStateError extends Error {
  override readonly name = "StaleStateError";
}
