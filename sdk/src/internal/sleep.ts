import { serviceError, type ServiceError, type ServiceErrorFields } from "../core/errors.ts";

/** The facts of an aborted call that its error carries. */
export type AbortContext = Pick<ServiceErrorFields, "requestId" | "idempotencyKey" | "outcomeUnknown">;

/** Waits for the time, or rejects when the signal aborts. */
export function sleep(ms: number, signal?: AbortSignal, context?: AbortContext): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortedError(signal, context));
    const onAbort = () => {
      clearTimeout(timer);
      reject(abortedError(signal, context));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Carries the idempotency key: an earlier attempt may have been executed. */
export function abortedError(signal: AbortSignal | undefined, context: AbortContext = {}): ServiceError {
  return serviceError({ ...context, code: "SDK_003", cause: signal?.reason as unknown });
}
