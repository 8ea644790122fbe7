import type { Log } from "../../log";

const SAME_LINE_EVERY_MS = 10_000;
const LINES_REMEMBERED = 100;

interface Entry {
  namespace: string;
  label: string;
  log: { message: string; timestamp?: unknown; stack?: unknown; [field: string]: unknown };
}

/**
 * kafkajs logs each failed attempt as an error, although it retries: a warning here. A final
 * failure rejects, and is logged by its catcher. An outage repeats the same message, which is
 * logged once in ten seconds.
 */
export function createKafkaLog(log: Log, nowMs: () => number = Date.now): (entry: Entry) => void {
  const quietUntilMs = new Map<string, number>();
  return ({ namespace, label, log: { message, timestamp: _timestamp, stack: _stack, ...fields } }) => {
    const now = nowMs();
    if ((quietUntilMs.get(message) ?? 0) > now) return;
    if (quietUntilMs.size >= LINES_REMEMBERED) quietUntilMs.clear();
    quietUntilMs.set(message, now + SAME_LINE_EVERY_MS);
    const severity = label === "ERROR" || label === "WARN" ? "warn" : "debug";
    log[severity]({ kafka: { namespace, ...fields } }, message);
  };
}
