import { ConfigurationError } from "../core/errors.ts";
import { createNetwork, type Network } from "../core/network.ts";
import { type LogLevel, type Logger, logLevels } from "../core/logger.ts";
import type { ClientOptions } from "../client.ts";
import { isObject } from "./checks.ts";
import { leveledLogger } from "./leveledLogger.ts";

export interface Config {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly orgCode: string | undefined;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly headers: Headers;
  readonly fetch: typeof fetch;
  readonly log: Logger;
  readonly network: Network;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_MS = 600_000;
const DEFAULT_MAX_RETRIES = 2;
const MAX_RETRIES = 10;
const PRINTABLE = /^[\x21-\x7e]{1,256}$/;

/** What the caller gave, then what the environment says, then the defaults. Says what is wrong without repeating it. */
export function readConfig(options: ClientOptions): Config {
  acceptObject("options", options);
  if (options.network !== undefined) acceptObject("network", options.network);
  refuseBrowser(options.dangerouslyAllowBrowser === true);
  const orgCode = options.orgCode ?? env("WONRAIL_ORG_CODE");
  if (orgCode !== undefined && !PRINTABLE.test(orgCode)) throw wrong("orgCode must be printable ASCII.");
  return {
    baseUrl: checkedBaseUrl(options.baseUrl ?? env("WONRAIL_BASE_URL")),
    apiKey: checkedApiKey(options.apiKey ?? env("WONRAIL_API_KEY")),
    orgCode,
    timeoutMs: wholeNumber("timeoutMs", options.timeoutMs, DEFAULT_TIMEOUT_MS, 1, MAX_TIMEOUT_MS),
    maxRetries: wholeNumber("maxRetries", options.maxRetries, DEFAULT_MAX_RETRIES, 0, MAX_RETRIES),
    headers: checkedHeaders(options.headers),
    // Looked up at each call: a test or an instrumentation may replace the global one.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    log: leveledLogger(options.logger ?? console, logLevel(options)),
    network: createNetwork(options.network),
  };
}

/** Something else, such as an idempotency key as it is, would be passed over in silence. */
export function acceptOptions(options: { signal?: AbortSignal | undefined }): void {
  acceptObject("options", options);
  const { signal } = options as { signal?: { addEventListener?: unknown } | null };
  if (signal != null && typeof signal.addEventListener !== "function")
    throw wrong("signal must be an AbortSignal.");
}

function acceptObject(name: string, given: unknown): void {
  if (!isObject(given)) throw wrong(`${name} must be an object.`);
}

/** A number that one call or the client sets. */
export function wholeNumber(
  name: string,
  given: number | undefined,
  otherwise: number,
  minimum: number,
  maximum: number,
): number {
  const value = given ?? otherwise;
  if (!Number.isInteger(value) || value < minimum || value > maximum)
    throw wrong(`${name} must be a whole number from ${minimum} to ${maximum}.`);
  return value;
}

/** The limits hold for single calls too. */
export function attemptLimits(
  config: Pick<Config, "timeoutMs" | "maxRetries">,
  call: { timeoutMs?: number | undefined; maxRetries?: number | undefined },
): { timeoutMs: number; maxRetries: number } {
  return {
    timeoutMs: wholeNumber("timeoutMs", call.timeoutMs, config.timeoutMs, 1, MAX_TIMEOUT_MS),
    maxRetries: wholeNumber("maxRetries", call.maxRetries, config.maxRetries, 0, MAX_RETRIES),
  };
}

/** What the library says itself. An idempotency key that it overwrote would be no key at all, and the call done twice. */
const OWN_HEADERS = {
  "idempotency-key": "give the call its idempotencyKey",
  "x-api-key": "give the client its apiKey",
  "x-org-code": "give the client its orgCode",
  "content-type": "it is always application/json",
};

/** Headers of the caller's own, for one call or for all. */
export function checkedHeaders(given: Record<string, string> = {}): Headers {
  const headers = headersOf(given);
  for (const [name, instead] of Object.entries(OWN_HEADERS))
    if (headers.has(name)) throw wrong(`headers cannot set ${name}: ${instead}.`);
  return headers;
}

function headersOf(given: Record<string, string>): Headers {
  try {
    return new Headers(given);
  } catch {
    // The reason is left out: it repeats the value.
    throw wrong("headers must have names and values that HTTP allows.");
  }
}

function refuseBrowser(isAllowed: boolean): void {
  if (isAllowed) return;
  const { window, document } = globalThis as { window?: unknown; document?: unknown };
  if (window !== undefined && document !== undefined)
    throw wrong(
      "In a browser everybody can read the API key. Call your own server from there, or set dangerouslyAllowBrowser.",
    );
}

function checkedBaseUrl(given: string | undefined): string {
  if (given === undefined) throw wrong("baseUrl is missing. Give it, or set WONRAIL_BASE_URL.");
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain =
    url !== undefined && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw wrong("baseUrl must be an http or https URL without credentials, query and fragment.");
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

function checkedApiKey(given: string | undefined): string {
  if (given === undefined) throw wrong("apiKey is missing. Give it, or set WONRAIL_API_KEY.");
  if (!PRINTABLE.test(given))
    throw wrong("apiKey must be printable ASCII without spaces. Is a line break at its end?");
  return given;
}

function logLevel({ logLevel: given, logger }: ClientOptions): LogLevel {
  const level = given ?? env("WONRAIL_LOG") ?? (logger === undefined ? "off" : "info");
  const known = logLevels.find((one) => one === level);
  if (known === undefined) throw wrong(`logLevel must be one of ${logLevels.join(", ")}.`);
  return known;
}

/** Edge runtimes have no process, and Deno asks before it lets a variable be read. An empty one is one that is not set. */
function env(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

export function wrong(message: string): ConfigurationError {
  return new ConfigurationError({ code: "SDK_006", message });
}
