import type { ClientOptions } from "../core/clientOptions.ts";
import { ConfigurationError } from "../core/errors.ts";
import { type LogLevel, type Logger, logLevels } from "../core/logger.ts";
import { createNetwork, type Network } from "../core/network.ts";
import { isObject } from "./checks.ts";
import { leveledLogger } from "./leveledLogger.ts";
import { adviseKnownName, type KnownNames } from "./names.ts";

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

const CLIENT_OPTIONS: KnownNames<ClientOptions> = {
  baseUrl: true,
  apiKey: true,
  orgCode: true,
  timeoutMs: true,
  maxRetries: true,
  headers: true,
  fetch: true,
  logger: true,
  logLevel: true,
  network: true,
  dangerouslyAllowBrowser: true,
  dangerouslyAllowHttp: true,
};
const NETWORK_OPTIONS: KnownNames<Network> = {
  type: true,
  chainId: true,
  rpcUrl: true,
  explorerUrl: true,
  token: true,
  paymentManagerAddress: true,
};
const TOKEN_OPTIONS: KnownNames<Network["token"]> = { address: true, symbol: true, decimals: true };

/** Reads the options, then the environment, then the defaults. Messages never repeat a value. */
export function readConfig(options: ClientOptions): Config {
  requireOptions("options", options, CLIENT_OPTIONS);
  checkNetworkNames(options);
  refuseBrowser(options.dangerouslyAllowBrowser === true);
  const orgCode = options.orgCode ?? env("WONRAIL_ORG_CODE");
  if (orgCode !== undefined && !PRINTABLE.test(orgCode))
    throw configurationError("orgCode must be printable ASCII.");
  const isHttpAllowed = options.dangerouslyAllowHttp === true;
  return {
    baseUrl: readBaseUrl(options.baseUrl ?? env("WONRAIL_BASE_URL"), isHttpAllowed),
    apiKey: readApiKey(options.apiKey ?? env("WONRAIL_API_KEY")),
    orgCode,
    timeoutMs: readInteger("timeoutMs", options.timeoutMs, DEFAULT_TIMEOUT_MS, 1, MAX_TIMEOUT_MS),
    maxRetries: readInteger("maxRetries", options.maxRetries, DEFAULT_MAX_RETRIES, 0, MAX_RETRIES),
    headers: readHeaders(options.headers),
    // Looked up at each call: tests and instrumentation may replace the global fetch.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    log: leveledLogger(options.logger ?? console, readLogLevel(options)),
    network: createNetwork(options.network),
  };
}

function checkNetworkNames({ network }: ClientOptions): void {
  if (network === undefined) return;
  requireOptions("network", network, NETWORK_OPTIONS);
  if (network.token !== undefined) requireOptions("network.token", network.token, TOKEN_OPTIONS);
}

/** Throws when options are no object, or have an unknown name. */
export function requireOptions(path: string, given: object, known: Readonly<Record<string, unknown>>): void {
  if (!isObject(given)) throw configurationError(`${path} must be an object.`);
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const advice = adviseKnownName(unknown, Object.keys(known));
  throw configurationError(`${path} has the unknown ${unknown}: ${advice}`);
}

export function checkSignal(signal: unknown): void {
  const { addEventListener } = (signal ?? {}) as { addEventListener?: unknown };
  if (signal != null && typeof addEventListener !== "function")
    throw configurationError("signal must be an AbortSignal.");
}

/** Reads a number that a call or the client sets. */
export function readInteger(
  name: string,
  given: number | undefined,
  otherwise: number,
  minimum: number,
  maximum: number,
): number {
  const value = given ?? otherwise;
  if (!Number.isInteger(value) || value < minimum || value > maximum)
    throw configurationError(`${name} must be a whole number from ${minimum} to ${maximum}.`);
  return value;
}

/** Reads the limits of one call. The client's values are the defaults. */
export function readAttemptLimits(
  config: Pick<Config, "timeoutMs" | "maxRetries">,
  call: { timeoutMs?: number | undefined; maxRetries?: number | undefined },
): { timeoutMs: number; maxRetries: number } {
  return {
    timeoutMs: readInteger("timeoutMs", call.timeoutMs, config.timeoutMs, 1, MAX_TIMEOUT_MS),
    maxRetries: readInteger("maxRetries", call.maxRetries, config.maxRetries, 0, MAX_RETRIES),
  };
}

/** Headers that the library sets. A replaced idempotency key would allow a second execution. */
const OWN_HEADERS = {
  "idempotency-key": "give the call its idempotencyKey",
  "x-api-key": "give the client its apiKey",
  "x-org-code": "give the client its orgCode",
  "content-type": "it is always application/json",
};

/** Reads the caller's headers, for one call or for all. */
export function readHeaders(given: Record<string, string> = {}): Headers {
  const headers = toHeaders(given);
  for (const [name, instead] of Object.entries(OWN_HEADERS))
    if (headers.has(name)) throw configurationError(`headers cannot set ${name}: ${instead}.`);
  return headers;
}

function toHeaders(given: Record<string, string>): Headers {
  try {
    return new Headers(given);
  } catch {
    // The original error repeats the value.
    throw configurationError("headers must have names and values that HTTP allows.");
  }
}

function refuseBrowser(isAllowed: boolean): void {
  if (isAllowed) return;
  const { window, document } = globalThis as { window?: unknown; document?: unknown };
  if (window !== undefined && document !== undefined)
    throw configurationError(
      "In a browser every visitor can read the API key. Call your own server from there, or set dangerouslyAllowBrowser.",
    );
}

function readBaseUrl(given: string | undefined, isHttpAllowed: boolean): string {
  if (given === undefined) throw configurationError("baseUrl is missing. Give it, or set WONRAIL_BASE_URL.");
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain =
    url !== undefined && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw configurationError("baseUrl must be an http or https URL without credentials, query and fragment.");
  if (url.protocol === "http:" && !isHttpAllowed && !isLoopback(url.hostname))
    throw configurationError(
      "baseUrl must use https: over http the network can read the API key. Set dangerouslyAllowHttp to allow it.",
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** The URL parser has already normalised the host, so 127.1 is 127.0.0.1. */
function isLoopback(host: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(host) || host === "[::1]" || /^(.+\.)?localhost$/.test(host);
}

function readApiKey(given: string | undefined): string {
  if (given === undefined) throw configurationError("apiKey is missing. Give it, or set WONRAIL_API_KEY.");
  if (!PRINTABLE.test(given))
    throw configurationError(
      "apiKey must be printable ASCII without spaces. Check for a line break at its end.",
    );
  return given;
}

function readLogLevel({ logLevel: given, logger }: ClientOptions): LogLevel {
  const level = given ?? env("WONRAIL_LOG") ?? (logger === undefined ? "off" : "info");
  const known = logLevels.find((name) => name === level);
  if (known === undefined) throw configurationError(`logLevel must be one of ${logLevels.join(", ")}.`);
  return known;
}

/** Edge runtimes have no process, and Deno may deny access. An empty variable counts as absent. */
function env(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  try {
    return process?.env?.[name] || undefined;
  } catch {
    return undefined;
  }
}

export function configurationError(message: string): ConfigurationError {
  return new ConfigurationError({ code: "SDK_006", message });
}
