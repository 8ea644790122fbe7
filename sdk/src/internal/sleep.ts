import { serviceError, type ServiceError, type ServiceErrorFields } from "../core/errors.ts";

/** What an aborted call leaves behind. */
export type LeftBehind = Pick<ServiceErrorFields, "requestId" | "idempotencyKey" | "outcomeUnknown">;

/** Waits, unless the signal ends it. */
export function sleep(ms: number, signal?: AbortSignal, left?: LeftBehind): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedError(signal, left));
    const onAbort = () => {
      clearTimeout(timer);
      reject(abortedError(signal, left));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** With the key, since what was sent before may have been done: who calls again with it moves nothing twice. */
export function abortedError(signal: AbortSignal | undefined, left: LeftBehind = {}): ServiceError {
  return serviceError({ ...left, code: "SDK_003", cause: signal?.reason as unknown });
}
