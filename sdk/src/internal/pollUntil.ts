import type { CallOptions } from "../core/call.ts";
import { ServiceError, WaitTimeoutError } from "../core/errors.ts";
import { checkSignal, configurationError, readInteger, requireOptions } from "./config.ts";
import type { KnownNames } from "./names.ts";
import { abortedError, sleep } from "./sleep.ts";

/** Options of `waitFor` and `waitForStatus`. */
export interface WaitOptions {
  /** Time between two reads in milliseconds. Default: 1500. */
  intervalMs?: number | undefined;
  /** Time limit of the whole wait in milliseconds. Default: 60000. */
  timeoutMs?: number | undefined;
  /** Ends the wait when it aborts. */
  signal?: AbortSignal | undefined;
}

/** Returns true when the awaited state is reached. May be asynchronous. */
export type WaitPredicate<State> = (state: State) => boolean | PromiseLike<boolean>;

const MAX_WAIT_MS = 86_400_000;
const WAIT_OPTIONS: KnownNames<WaitOptions> = { intervalMs: true, timeoutMs: true, signal: true };

/** Reads until the predicate is true. An error of the predicate ends the wait. */
export async function pollUntil<State>(
  read: (options: CallOptions) => PromiseLike<State>,
  predicate: WaitPredicate<State>,
  options: WaitOptions,
): Promise<State> {
  requireOptions("options", options, WAIT_OPTIONS);
  checkSignal(options.signal);
  if (typeof predicate !== "function") throw configurationError("predicate must be a function.");
  const intervalMs = readInteger("intervalMs", options.intervalMs, 1_500, 1, MAX_WAIT_MS);
  const timeoutMs = readInteger("timeoutMs", options.timeoutMs, 60_000, 1, MAX_WAIT_MS);
  const { signal } = options;
  // Monotonic: a change of the wall clock does not move the end.
  const endsAtMs = performance.now() + timeoutMs;
  let lastState: State | undefined;
  let lastError: ServiceError | undefined;
  for (;;) {
    const startedAtMs = performance.now();
    // A pause may end late in a stopped process or on a busy machine.
    if (startedAtMs >= endsAtMs) throw timeoutError(timeoutMs, lastState, lastError);
    // The next read is the retry. A call's limit is a whole number.
    const readTimeoutMs = Math.min(30_000, Math.ceil(endsAtMs - startedAtMs));
    const result = await readOnce(read, { timeoutMs: readTimeoutMs, maxRetries: 0, signal });
    if (result.ok) {
      lastState = result.state;
      lastError = undefined;
      if (await predicate(result.state)) return result.state;
      // The signal may have aborted during the predicate.
      if (signal?.aborted) throw abortedError(signal);
    } else lastError = result.error;
    const pauseMs = Math.max(intervalMs - (performance.now() - startedAtMs), lastError?.retryAfterMs ?? 0, 0);
    const leftMs = endsAtMs - performance.now();
    if (leftMs > 0) await sleep(Math.min(pauseMs, leftMs), signal);
    if (pauseMs >= leftMs) throw timeoutError(timeoutMs, lastState, lastError);
  }
}

type ReadResult<State> = { ok: true; state: State } | { ok: false; error: ServiceError };

async function readOnce<State>(
  read: (options: CallOptions) => PromiseLike<State>,
  options: CallOptions,
): Promise<ReadResult<State>> {
  try {
    return { ok: true, state: await read(options) };
  } catch (error) {
    if (error instanceof ServiceError && error.retryable) return { ok: false, error };
    throw error;
  }
}

function timeoutError<State>(
  timeoutMs: number,
  lastState: State | undefined,
  lastError: ServiceError | undefined,
) {
  const message = `The awaited state was not reached within ${timeoutMs} ms.`;
  return new WaitTimeoutError<State>({
    message,
    lastState,
    cause: lastError,
    requestId: lastError?.requestId,
  });
}
