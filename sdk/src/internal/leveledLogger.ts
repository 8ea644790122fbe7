import { type Logger, type LogLevel, logLevels } from "../core/logger.ts";
import { redactDeep } from "./redact.ts";

/** Passes on what the level asks for, without credentials. */
export function leveledLogger(logger: Logger, level: LogLevel): Logger {
  const wanted = logLevels.indexOf(level);
  const at = (name: Exclude<LogLevel, "off">) => (message: string, fields: Record<string, unknown>) => {
    if (logLevels.indexOf(name) > wanted) return;
    try {
      logger[name](`wonrail: ${message}`, redactDeep(fields));
    } catch {
      // A line that is lost must not make a call that was done look as if it had failed, nor send it again.
    }
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn") };
}
