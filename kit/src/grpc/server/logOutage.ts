import { causesOf, type DomainError, isOutage } from "../../contract/errors";
import { type Log } from "../../log";

/**
 * Logs an outage with its cause for operators, because the caller gets only the code. Refusals need
 * no log line.
 */
export function logOutage(error: DomainError, log: Log, rpc: string): void {
  if (isOutage(error)) log.warn({ rpc, code: error.code, cause: causesOf(error) }, "call failed");
}
