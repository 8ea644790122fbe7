import { type Logger, type LogLevel, logLevels } from "../core/logger.ts";
import { redactDeep } from "./redact.ts";

/** Passes lines of the level on, with credentials redacted. */
export function leveledLogger(logger: Logger, level: LogLevel): Logger {
  const wanted = logLevels.indexOf(level);
  const at = (name: Exclude<LogLevel, "off">) => (message: string, fields: Record<string, unknown>) => {
    if (logLevels.indexOf(name) > wanted) return;
    try {
      logger[name](`wonrail: ${message}`, redactDeep(fields));
    } catch {
      // A failing logger must not fail or repeat a call.
    }
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn") };
}
