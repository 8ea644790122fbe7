import type { CallOptions } from "../core/call.ts";
import { ServiceError, WaitTimeoutError } from "../core/errors.ts";
import { acceptOptions, wholeNumber, wrong } from "./config.ts";
import { abortedError, sleep } from "./sleep.ts";

export interface WaitOptions {
  /** From one look to the next, in milliseconds; 1500 unless given. */
  intervalMs?: number | undefined;
  /** For all of it, in milliseconds; 60000 unless given. */
  timeoutMs?: number | undefined;
  /** Ends the waiting. */
  signal?: AbortSignal | undefined;
}

const MAX_WAIT_MS = 86_400_000;

/** Looks until the predicate is true of what it sees. What the predicate throws ends the waiting. */
export async function waitUntil<State>(
  look: (options: CallOptions) => PromiseLike<State>,
  predicate: (state: State) => boolean | PromiseLike<boolean>,
  options: WaitOptions,
): Promise<State> {
  acceptOptions(options);
  if (typeof predicate !== "function") throw wrong("predicate must be a function.");
  const intervalMs = wholeNumber("intervalMs", options.intervalMs, 1_500, 1, MAX_WAIT_MS);
  const timeoutMs = wholeNumber("timeoutMs", options.timeoutMs, 60_000, 1, MAX_WAIT_MS);
  const { signal } = options;
  // By a clock that nobody sets.
  const endsAtMs = performance.now() + timeoutMs;
  let lastState: State | undefined;
  let lastError: ServiceError | undefined;
  for (;;) {
    const lookedAtMs = performance.now();
    // A pause may end late: in a process that was stopped, or on a busy machine.
    if (lookedAtMs >= endsAtMs) throw timeoutError(timeoutMs, lastState, lastError);
    // The next look is the retry. A call's limit is a whole number.
    const timeoutForLookMs = Math.min(30_000, Math.ceil(endsAtMs - lookedAtMs));
    const seen = await lookOnce(look, { timeoutMs: timeoutForLookMs, maxRetries: 0, signal });
    if (seen.ok) {
      lastState = seen.state;
      lastError = undefined;
      if (await predicate(seen.state)) return seen.state;
      // The predicate may have taken its time.
      if (signal?.aborted) throw abortedError(signal);
    } else lastError = seen.error;
    const pauseMs = Math.max(intervalMs - (performance.now() - lookedAtMs), lastError?.retryAfterMs ?? 0, 0);
    const leftMs = endsAtMs - performance.now();
    if (leftMs > 0) await sleep(Math.min(pauseMs, leftMs), signal);
    if (pauseMs >= leftMs) throw timeoutError(timeoutMs, lastState, lastError);
  }
}

type Seen<State> = { ok: true; state: State } | { ok: false; error: ServiceError };

async function lookOnce<State>(
  look: (options: CallOptions) => PromiseLike<State>,
  options: CallOptions,
): Promise<Seen<State>> {
  try {
    return { ok: true, state: await look(options) };
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
