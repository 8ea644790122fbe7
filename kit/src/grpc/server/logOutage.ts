import { causesOf, type DomainError, isOutage } from "../../contract/errors";
import { type Log } from "../../log";

/** A refusal speaks for itself. Of what was away or late the caller hears only that, and an operator finds out here. */
export function logOutage(error: DomainError, log: Log, rpc: string): void {
  if (isOutage(error)) log.warn({ rpc, code: error.code, cause: causesOf(error) }, "call failed");
}
