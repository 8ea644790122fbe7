import type { CallOptions, IdempotentCallOptions, WithResponse } from "../core/call.ts";
import { serviceError, ServiceError } from "../core/errors.ts";
import { invalidFields } from "./checks.ts";
import { checkSignal, type Config, readAttemptLimits, readHeaders, requireOptions } from "./config.ts";
import { failureReason, nameCauses, wasNeverSent } from "./failureCauses.ts";
import type { KnownNames } from "./names.ts";
import { finalError, wasNotExecuted } from "./outcome.ts";
import { readResponse } from "./readResponse.ts";
import { isRetried, retryDelayMs } from "./retry.ts";
import { abortedError, sleep } from "./sleep.ts";
import { API_VERSION, VERSION } from "./version.ts";

export interface ApiRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string | number | undefined>> | undefined;
  body?: unknown;
  /** `once`: not repeated if it may have been executed. `keyed`: repeatable by its idempotency key. */
  repeat: "safe" | "keyed" | "once";
  /** True for an answer that is a stream of bytes and no envelope. */
  isFile?: true;
  /** True for requests without the client's API key. */
  isOpen?: true;
  options?: IdempotentCallOptions | undefined;
}

export interface Transport {
  send<T>(request: ApiRequest): Promise<WithResponse<T>>;
  /** Uses the new key for later requests, if the client still has the old one. */
  replaceApiKey(oldKey: string, newKey: string): void;
  currentApiKey(): string;
}

const REQUEST_ID = "x-request-id";

const CALL_OPTIONS: KnownNames<CallOptions> = {
  timeoutMs: true,
  maxRetries: true,
  signal: true,
  headers: true,
};
const KEYED_OPTIONS: KnownNames<IdempotentCallOptions> = { ...CALL_OPTIONS, idempotencyKey: true };

/** The facts of one attempt at a request. */
interface Attempt {
  /** Equal for all attempts of a call: given by the caller, or created here. */
  requestId: string;
  /** The caller's headers for this call. */
  headers: Headers;
  body: string | undefined;
  idempotencyKey: string | undefined;
  isChange: boolean;
  timeoutMs: number;
  retriesMade: number;
  /** An earlier attempt may have been executed. */
  isEarlierOpen: boolean;
}

/** Sends requests with time limits, idempotency keys and retries. */
export function createTransport(config: Config, random: () => number = Math.random): Transport {
  let { apiKey } = config;

  async function send<T>(request: ApiRequest): Promise<WithResponse<T>> {
    const { options = {}, repeat } = request;
    requireOptions("options", options, repeat === "keyed" ? KEYED_OPTIONS : CALL_OPTIONS);
    checkSignal(options.signal);
    const { timeoutMs, maxRetries } = readAttemptLimits(config, options);
    const idempotencyKey = repeat === "keyed" ? readKey(options) : undefined;
    // Encoded before the first attempt, because the caller may change its object and a key stands
    // for one body.
    const body = request.body === undefined ? undefined : toJson(request.body);
    const headers = readHeaders(options.headers);
    const requestId = headers.get(REQUEST_ID) || config.headers.get(REQUEST_ID) || crypto.randomUUID();
    const isChange = request.method !== "GET";
    const common = { requestId, headers, body, idempotencyKey, isChange, timeoutMs };
    let isEarlierOpen = false;
    for (let retriesMade = 0; ; retriesMade += 1) {
      const outcome = await attempt<T>(request, { ...common, retriesMade, isEarlierOpen });
      if (!(outcome instanceof ServiceError)) return outcome;
      const mayRepeat = repeat !== "once" || wasNotExecuted(outcome);
      if (retriesMade >= maxRetries || !mayRepeat || !isRetried(outcome)) {
        const last = isChange && repeat !== "once" ? finalError(outcome, isEarlierOpen) : outcome;
        warnIfUnanswered(request, last, retriesMade);
        throw last;
      }
      // Only an answer to the request itself can settle the outcome now.
      if (isChange && !wasNotExecuted(outcome)) isEarlierOpen = true;
      const delayMs = Math.round(retryDelayMs(retriesMade, outcome.retryAfterMs, random));
      config.log.info("retrying", {
        ...target(request),
        code: outcome.code,
        retry: retriesMade + 1,
        delayMs,
      });
      await sleep(delayMs, options.signal, { requestId, idempotencyKey, outcomeUnknown: isEarlierOpen });
    }
  }

  async function attempt<T>(
    request: ApiRequest,
    { requestId, headers, body, idempotencyKey, isChange, timeoutMs, retriesMade, isEarlierOpen }: Attempt,
  ): Promise<WithResponse<T> | ServiceError> {
    const signal = request.options?.signal;
    if (signal?.aborted)
      throw abortedError(signal, { requestId, idempotencyKey, outcomeUnknown: isEarlierOpen });
    const url = toUrl(config.baseUrl, request);
    const init = {
      method: request.method,
      headers: toHeaders(config, request, { requestId, headers, apiKey, idempotencyKey, retriesMade }),
      ...(body === undefined ? {} : { body }),
      // A redirect would carry the API key to another server.
      redirect: "manual" as const,
    };
    const limit = limitedSignal(timeoutMs, signal);
    const startedMs = performance.now();
    try {
      // The time limit is that of the head. The caller's signal ends the download of the body too.
      const ending = request.isFile && signal ? AbortSignal.any([limit.signal, signal]) : limit.signal;
      const response = await limit.of(config.fetch(url, { ...init, signal: ending }));
      const answer =
        request.isFile && response.ok
          ? { data: response.body, requestId: response.headers.get(REQUEST_ID) ?? requestId, replayed: false }
          : await limit.of(readResponse(response, { requestId, idempotencyKey, isChange }));
      logAnswer(request, response.status, answer, Math.round(performance.now() - startedMs));
      if (answer instanceof ServiceError) return answer;
      const { status } = response;
      return { ...answer, data: answer.data as T, status, headers: response.headers, idempotencyKey };
    } catch (error) {
      const call = { requestId, idempotencyKey };
      if (signal?.aborted) throw abortedError(signal, { ...call, outcomeUnknown: isChange });
      const code = limit.isTimedOut() ? "SDK_002" : "SDK_001";
      const outcomeUnknown = isChange && (code === "SDK_002" || !wasNeverSent(error));
      const durationMs = Math.round(performance.now() - startedMs);
      config.log.debug("no answer", {
        ...target(request),
        code,
        cause: nameCauses(error),
        requestId,
        durationMs,
      });
      const limitMs = code === "SDK_002" ? timeoutMs : undefined;
      const message = noAnswerMessage(`${request.method} ${config.baseUrl}${request.path}`, error, {
        limitMs,
        outcomeUnknown,
      });
      return serviceError({ ...call, outcomeUnknown, code, message, cause: error });
    } finally {
      limit.release();
    }
  }

  function warnIfUnanswered(
    request: ApiRequest,
    { code, cause, requestId, outcomeUnknown }: ServiceError,
    retries: number,
  ): void {
    if (!outcomeUnknown && code !== "SDK_001" && code !== "SDK_002") return;
    config.log.warn("gave up", {
      ...target(request),
      code,
      cause: nameCauses(cause),
      requestId,
      retries,
      outcomeUnknown,
    });
  }

  function logAnswer(
    request: ApiRequest,
    status: number,
    answer: { requestId?: string | undefined },
    durationMs: number,
  ): void {
    const code = answer instanceof ServiceError ? { code: answer.code } : {};
    config.log.debug("answer", {
      ...target(request),
      status,
      ...code,
      requestId: answer.requestId,
      durationMs,
    });
  }

  return {
    send,
    replaceApiKey(oldKey, newKey) {
      if (apiKey === oldKey) apiKey = newKey;
    },
    currentApiKey: () => apiKey,
  };
}

/** Method and path for a log line. The query and the body hold personal data. */
function target({ method, path }: ApiRequest): { method: string; path: string } {
  return { method, path };
}

/** Names the request without its query, which may hold personal data. */
function noAnswerMessage(
  request: string,
  error: unknown,
  { limitMs, outcomeUnknown }: { limitMs: number | undefined; outcomeUnknown: boolean },
): string {
  if (limitMs === undefined && wasNeverSent(error))
    return `${request} was not sent: ${failureReason(error)}. Check the baseUrl and the network.`;
  const result =
    limitMs === undefined ? `got no answer: ${failureReason(error)}.` : `got no answer within ${limitMs} ms.`;
  const advice = outcomeUnknown
    ? " The call may have been executed: repeat it with its idempotencyKey, or read the state first."
    : "";
  return `${request} ${result}${advice}`;
}

function toUrl(baseUrl: string, { path, query = {} }: ApiRequest): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string | number] => pair[1] !== undefined,
  );
  const search = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `${baseUrl}${path}${search === "" ? "" : `?${search}`}`;
}

function toHeaders(
  { headers: clientHeaders, orgCode }: Config,
  { body, isOpen }: ApiRequest,
  {
    requestId,
    headers,
    apiKey,
    idempotencyKey,
    retriesMade,
  }: Pick<Attempt, "requestId" | "headers" | "idempotencyKey" | "retriesMade"> & { apiKey: string },
): Headers {
  const result = new Headers({ accept: "application/json", "user-agent": `wonrail-sdk/${VERSION}` });
  result.set("wonrail-version", API_VERSION);
  for (const given of [clientHeaders, headers]) given.forEach((value, name) => result.set(name, value));
  if (body !== undefined) result.set("content-type", "application/json");
  if (!isOpen) result.set("x-api-key", apiKey);
  if (!isOpen && orgCode !== undefined) result.set("x-org-code", orgCode);
  if (idempotencyKey !== undefined) result.set("idempotency-key", idempotencyKey);
  result.set(REQUEST_ID, requestId);
  if (retriesMade > 0) result.set("x-retry-count", String(retriesMade));
  return result;
}

function toJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    const message = "must be valid JSON: it holds a BigInt or refers to itself";
    throw invalidFields([{ path: "(body)", message }], "REQ_001", cause);
  }
}

const KEY_FIELD = "(header) Idempotency-Key";

function readKey(options: IdempotentCallOptions): string {
  if (!Object.hasOwn(options, "idempotencyKey")) return crypto.randomUUID();
  const { idempotencyKey: key } = options;
  if (key === undefined) {
    const message = "is undefined: leave it out for a new key, or give a value";
    throw invalidFields([{ path: KEY_FIELD, message }]);
  }
  // HTTP removes spaces at the ends, which would make two keys equal.
  if (typeof key === "string" && /^[\x20-\x7e]{1,255}$/.test(key) && key.trim() === key) return key;
  const message = "must be 1 to 255 printable ASCII characters, without spaces at its ends";
  throw invalidFields([{ path: KEY_FIELD, message }]);
}

/** Aborts with the caller's signal or after the time. AbortSignal.timeout cannot release its timer. */
function limitedSignal(timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    controller.abort();
  }, timeoutMs);
  const onAbort = () => controller.abort(outer?.reason);
  outer?.addEventListener("abort", onAbort, { once: true });
  const ended = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason as Error), {
      once: true,
    });
  });
  return {
    signal: controller.signal,
    isTimedOut: () => isTimedOut,
    /** Rejects at the limit even if a custom fetch ignores the signal. */
    of: <T>(work: Promise<T>): Promise<T> => Promise.race([work, ended]),
    release() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
