import { type Logger, type LogLevel, logLevels } from "../core/logger.ts";
import { redactDeep } from "./redact.ts";

/** Passes on what the level asks for, without credentials. */
export function leveledLogger(logger: Logger, level: LogLevel): Logger {
  const wanted = logLevels.indexOf(level);
  const at = (name: Exclude<LogLevel, "off">) => (message: string, fields: Record<string, unknown>) => {
    if (logLevels.indexOf(name) <= wanted) logger[name](`wonrail: ${message}`, redactDeep(fields));
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn") };
}
