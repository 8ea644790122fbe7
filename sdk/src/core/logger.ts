/** Where the library writes: console, pino and most others fit. It gets no bodies, no headers and no query. */
export interface Logger {
  debug(message: string, fields: Record<string, unknown>): void;
  info(message: string, fields: Record<string, unknown>): void;
  warn(message: string, fields: Record<string, unknown>): void;
}

export type LogLevel = "off" | "warn" | "info" | "debug";
export const logLevels: readonly LogLevel[] = ["off", "warn", "info", "debug"];
