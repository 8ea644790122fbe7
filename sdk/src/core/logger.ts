/**
 * Where the library writes: console and winston fit; pino and bunyan, which take the fields first, need an adapter of two lines (see the README).
 * It gets no bodies, no headers and no query. What it throws is ignored.
 */
export interface Logger {
  /** Each attempt. */
  debug(message: string, fields: Record<string, unknown>): void;
  /** Each retry. */
  info(message: string, fields: Record<string, unknown>): void;
  /** A call that ends without an answer, or may have been done. */
  warn(message: string, fields: Record<string, unknown>): void;
}

export type LogLevel = "off" | "warn" | "info" | "debug";
export const logLevels: readonly LogLevel[] = ["off", "warn", "info", "debug"];
