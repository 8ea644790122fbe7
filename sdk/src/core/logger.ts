/**
 * Receives the library's log lines, without bodies, headers and queries. console and winston fit.
 * pino and bunyan take the fields first and need an adapter (see the README). Errors of a logger are
 * ignored.
 */
export interface Logger {
  /** Reports each attempt. */
  debug(message: string, fields: Record<string, unknown>): void;
  /** Reports each retry. */
  info(message: string, fields: Record<string, unknown>): void;
  /** Reports a call without an answer, and a call with an open outcome. */
  warn(message: string, fields: Record<string, unknown>): void;
}

/** Lowest level that is logged: `warn`, `info` (retries too) or `debug` (all attempts too). */
export type LogLevel = "off" | "warn" | "info" | "debug";
export const logLevels: readonly LogLevel[] = ["off", "warn", "info", "debug"];
