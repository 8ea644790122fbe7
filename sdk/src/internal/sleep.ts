import { serviceError, type ServiceError } from "../core/errors.ts";

/** Waits, unless the signal ends it. The key is that of the call in whose name it waits. */
export function sleep(ms: number, signal?: AbortSignal, idempotencyKey?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedError(signal, idempotencyKey));
    const onAbort = () => {
      clearTimeout(timer);
      reject(abortedError(signal, idempotencyKey));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** With the key, since what was sent before may have been done: who calls again with it moves nothing twice. */
export function abortedError(signal: AbortSignal | undefined, idempotencyKey?: string): ServiceError {
  return serviceError({ code: "SDK_003", idempotencyKey, cause: signal?.reason as unknown });
}
