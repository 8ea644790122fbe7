import type { Logger, LogLevel } from "./logger.ts";
import type { NetworkOverrides } from "./network.ts";

/** Options of a client. Every option is optional when its environment variable is set. */
export interface ClientOptions {
  /** Address of the service, such as https://api.example.com. Default: WONRAIL_BASE_URL. */
  baseUrl?: string | undefined;
  /** The organisation's API key. Default: WONRAIL_API_KEY. */
  apiKey?: string | undefined;
  /** Must match the organisation of the key. Default: WONRAIL_ORG_CODE, else it is not sent. */
  orgCode?: string | undefined;
  /** Time limit of each attempt in milliseconds. Default: 30000. */
  timeoutMs?: number | undefined;
  /** Retries after the first attempt. Default: 2. */
  maxRetries?: number | undefined;
  /**
   * Headers of every request. The library sets Idempotency-Key, X-API-Key, X-Org-Code and
   * Content-Type itself and refuses them here.
   */
  headers?: Record<string, string> | undefined;
  /** A replacement of the global fetch. It must send each request once and must not retry. */
  fetch?: typeof fetch | undefined;
  /** Receives log lines without bodies, headers and credentials. Default: console. */
  logger?: Logger | undefined;
  /** Default: WONRAIL_LOG, else `info` with a `logger` and `off` without. */
  logLevel?: LogLevel | undefined;
  /** Values of the service's network that differ from the preset. */
  network?: NetworkOverrides | undefined;
  /** Allows a browser, where every visitor can read the API key. Default: false. */
  dangerouslyAllowBrowser?: boolean | undefined;
  /** Allows http:// to other hosts than this machine. The network can then read the API key. Default: false. */
  dangerouslyAllowHttp?: boolean | undefined;
}
