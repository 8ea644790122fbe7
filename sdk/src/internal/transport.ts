import type { IdempotentCallOptions, WithResponse } from "../core/call.ts";
import { serviceError, ServiceError } from "../core/errors.ts";
import { causesNamed } from "./causes.ts";
import { refusal } from "./checks.ts";
import { acceptOptions, attemptLimits, checkedHeaders, type Config } from "./config.ts";
import { didNothing, ending } from "./outcome.ts";
import { readAnswer } from "./readAnswer.ts";
import { isRetried, retryDelayMs } from "./retry.ts";
import { abortedError, sleep } from "./sleep.ts";
import { VERSION } from "./version.ts";

export interface ApiRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string | number | undefined>> | undefined;
  body?: unknown;
  /** `once`: never sent again when it may have been done. `keyed`: repeatable because of its idempotency key. */
  repeat: "safe" | "keyed" | "once";
  /** Without the client's API key. */
  isOpen?: true;
  options?: IdempotentCallOptions | undefined;
}

export interface Transport {
  send<T>(request: ApiRequest): Promise<WithResponse<T>>;
  /** From now on requests carry this key. */
  useApiKey(apiKey: string, replacing: string): void;
  currentApiKey(): string;
}

const REQUEST_ID = "x-request-id";

/** What one attempt at a request has beyond it. */
interface Attempt {
  /** Names the call to the service, whose answer may be lost: one name for all attempts, or the caller's. */
  requestId: string;
  /** The caller's own. */
  headers: Headers;
  body: string | undefined;
  idempotencyKey: string | undefined;
  isChange: boolean;
  timeoutMs: number;
  retriesMade: number;
  /** An earlier one may have done it. */
  isOpen: boolean;
}

/** Sends requests: each with its limits, its key and its retries. */
export function createTransport(config: Config, random: () => number = Math.random): Transport {
  let { apiKey } = config;

  async function send<T>(request: ApiRequest): Promise<WithResponse<T>> {
    const { options = {}, repeat } = request;
    acceptOptions(options);
    const { timeoutMs, maxRetries } = attemptLimits(config, options);
    const idempotencyKey = repeat === "keyed" ? checkedKey(options.idempotencyKey) : undefined;
    // Once for all attempts: the caller may change its object meanwhile, and one key stands for one body.
    const body = request.body === undefined ? undefined : jsonOf(request.body);
    const headers = checkedHeaders(options.headers);
    const requestId = headers.get(REQUEST_ID) || config.headers.get(REQUEST_ID) || crypto.randomUUID();
    const isChange = request.method !== "GET";
    const asked = { requestId, headers, body, idempotencyKey, isChange, timeoutMs };
    let isOpen = false;
    for (let retriesMade = 0; ; retriesMade += 1) {
      const outcome = await attempt<T>(request, { ...asked, retriesMade, isOpen });
      if (!(outcome instanceof ServiceError)) return outcome;
      const mayRepeat = repeat !== "once" || didNothing(outcome);
      if (retriesMade >= maxRetries || !mayRepeat || !isRetried(outcome)) {
        const last = isChange && repeat !== "once" ? ending(outcome, isOpen) : outcome;
        warnIfUnanswered(request, last, retriesMade);
        throw last;
      }
      // It may have been done: only an answer to the request itself can tell.
      if (isChange && !didNothing(outcome)) isOpen = true;
      const delayMs = Math.round(retryDelayMs(retriesMade, outcome.retryAfterMs, random));
      config.log.info("retrying", { ...place(request), code: outcome.code, retry: retriesMade + 1, delayMs });
      await sleep(delayMs, options.signal, { requestId, idempotencyKey, outcomeUnknown: isOpen });
    }
  }

  async function attempt<T>(
    request: ApiRequest,
    { requestId, headers, body, idempotencyKey, isChange, timeoutMs, retriesMade, isOpen }: Attempt,
  ): Promise<WithResponse<T> | ServiceError> {
    const signal = request.options?.signal;
    if (signal?.aborted) throw abortedError(signal, { requestId, idempotencyKey, outcomeUnknown: isOpen });
    const url = urlOf(config.baseUrl, request);
    const init = {
      method: request.method,
      headers: headersOf(config, request, { requestId, headers, apiKey, idempotencyKey, retriesMade }),
      ...(body === undefined ? {} : { body }),
      // A redirect would carry the key to wherever it points.
      redirect: "manual" as const,
    };
    const limit = limitedSignal(timeoutMs, signal);
    const startedMs = performance.now();
    try {
      const response = await limit.of(config.fetch(url, { ...init, signal: limit.signal }));
      const answer = await limit.of(readAnswer(response, { requestId, idempotencyKey, isChange }));
      logAnswer(request, response.status, answer, Math.round(performance.now() - startedMs));
      if (answer instanceof ServiceError) return answer;
      const { status } = response;
      return { ...answer, data: answer.data as T, status, headers: response.headers, idempotencyKey };
    } catch (error) {
      const unanswered = { requestId, idempotencyKey, outcomeUnknown: isChange };
      if (signal?.aborted) throw abortedError(signal, unanswered);
      const code = limit.timedOut() ? "SDK_002" : "SDK_001";
      const durationMs = Math.round(performance.now() - startedMs);
      config.log.debug("no answer", {
        ...place(request),
        code,
        cause: causesNamed(error),
        requestId,
        durationMs,
      });
      return serviceError({ ...unanswered, code, cause: error });
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
      ...place(request),
      code,
      cause: causesNamed(cause),
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
      ...place(request),
      status,
      ...code,
      requestId: answer.requestId,
      durationMs,
    });
  }

  return {
    send,
    useApiKey(next, replacing) {
      if (apiKey === replacing) apiKey = next;
    },
    currentApiKey: () => apiKey,
  };
}

/** What a log line may say of a request: no query and no body, which hold what partners' users do. */
function place({ method, path }: ApiRequest): { method: string; path: string } {
  return { method, path };
}

function urlOf(baseUrl: string, { path, query = {} }: ApiRequest): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string | number] => pair[1] !== undefined,
  );
  const search = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `${baseUrl}${path}${search === "" ? "" : `?${search}`}`;
}

function headersOf(
  { headers: ofClient, orgCode }: Config,
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
  for (const own of [ofClient, headers]) own.forEach((value, name) => result.set(name, value));
  if (body !== undefined) result.set("content-type", "application/json");
  if (!isOpen) result.set("x-api-key", apiKey);
  if (!isOpen && orgCode !== undefined) result.set("x-org-code", orgCode);
  if (idempotencyKey !== undefined) result.set("idempotency-key", idempotencyKey);
  result.set(REQUEST_ID, requestId);
  if (retriesMade > 0) result.set("x-retry-count", String(retriesMade));
  return result;
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    const message = "must be what JSON can say: no BigInt, and nothing that holds itself";
    throw refusal([{ path: "(body)", message }], "REQ_001", cause);
  }
}

function checkedKey(given: string | undefined): string {
  if (given === undefined) return crypto.randomUUID();
  // HTTP cuts off spaces at the ends, which would make two keys one.
  if (typeof given === "string" && /^[\x20-\x7e]{1,255}$/.test(given) && given.trim() === given) return given;
  const message = "must be 1 to 255 printable ASCII characters, without spaces at its ends";
  throw refusal([{ path: "(header) Idempotency-Key", message }]);
}

/** Ends with the caller's signal or with the time. Not AbortSignal.timeout: its timer could not be released. */
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
    timedOut: () => isTimedOut,
    /** The work, or the end of its time: a fetch that is given may not heed the signal. */
    of: <T>(work: Promise<T>): Promise<T> => Promise.race([work, ended]),
    release() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", onAbort);
    },
  };
}
