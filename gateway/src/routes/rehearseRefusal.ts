import { DomainError, isErrorCode, invalidRequest } from "@wonrail/kit/contract/errors";
import { SANDBOX_MEMO_PREFIX, SETTLEMENT_MEMOS, settlementOrderOf } from "@wonrail/kit/contract/sandboxMemos";
import { type JsonObject } from "@wonrail/kit/json";
import { exampleOf } from "./errorExamples";
import { refusalCodes } from "./openapi";
import { type Route } from "./operation";

/**
 * Refuses a request whose memo names an error of its operation, with the details of the documented
 * example. The request calls no service. For test keys on a test network.
 */
export function rehearseRefusal(route: Route, body: unknown): void {
  const memo = memoOf(body);
  if (memo === undefined || settlementOrderOf(memo) !== undefined) return;
  const code = memo.slice(SANDBOX_MEMO_PREFIX.length);
  if (!isErrorCode(code) || !refusalCodes(route).includes(code))
    throw invalidRequest([{ path: "memo", message: UNKNOWN }]);
  throw new DomainError(code, exampleOf(code).error.details as JsonObject | null);
}

const UNKNOWN =
  `is reserved in the sandbox: after ${SANDBOX_MEMO_PREFIX} name an error of this operation, or write ` +
  Object.keys(SETTLEMENT_MEMOS).join(" or ");

/** The memo of a request, if it begins as those of the sandbox. */
function memoOf(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("memo" in body)) return undefined;
  const { memo } = body;
  return typeof memo === "string" && memo.startsWith(SANDBOX_MEMO_PREFIX) ? memo : undefined;
}
