import {
  DomainError,
  type ErrorCode,
  type FieldProblem,
  invalidRequest,
  isErrorCode,
} from "@wonrail/kit/contract/errors";
import { SANDBOX_MEMO_PREFIX, SETTLEMENT_MEMOS, settlementOrderOf } from "@wonrail/kit/contract/sandboxMemos";
import { type JsonObject } from "@wonrail/kit/json";
import { type ErrorDetail } from "@wonrail/proto/common/v1/common";
import { MAX_PROBLEMS } from "../middleware/validate";
import { exampleOf } from "./errorExamples";
import { refusalCodes } from "./openapi";
import { type Route } from "./operation";

/**
 * Refuses a request whose memo names an error of its operation, with the details of the documented
 * example. The request calls no service. For test keys on a test network.
 */
export function rehearseRefusal(route: Route, body: unknown): void {
  const name = errorNamedBy(memoOf(body));
  if (name === undefined) return;
  const codes = refusalCodes(route);
  if (!isOneOf(codes, name)) throw invalidRequest([{ path: "memo", message: unknownName("this operation") }]);
  throw new DomainError(name, detailsOf(name));
}

/**
 * Returns the refusal that the memo of each row of a payout names. Each such memo must name one of the
 * codes. The gateway calls this function for test keys on a test network.
 */
export function rehearseRows(
  rows: readonly { memo?: string | undefined }[],
  codes: readonly ErrorCode[],
  path: "rows" | "csv",
): (ErrorDetail | undefined)[] {
  const problems: FieldProblem[] = [];
  const refusals = rows.map(({ memo }, index) => {
    const name = errorNamedBy(memo);
    if (name === undefined) return undefined;
    if (isOneOf(codes, name)) return errorDetailOf(name);
    problems.push({ path: `${path}[${index}].memo`, message: unknownName(`a row: ${codes.join(", ")}`) });
    return undefined;
  });
  if (problems.length > 0) throw invalidRequest(problems.slice(0, MAX_PROBLEMS));
  return refusals;
}

function unknownName(owner: string): string {
  const orders = Object.keys(SETTLEMENT_MEMOS).join(" or ");
  return `is reserved in the sandbox: after ${SANDBOX_MEMO_PREFIX} name an error of ${owner}; or write ${orders}`;
}

/** Returns the text behind the prefix, or undefined for a memo that asks for no refusal. */
function errorNamedBy(memo: unknown): string | undefined {
  if (typeof memo !== "string" || !memo.startsWith(SANDBOX_MEMO_PREFIX)) return undefined;
  return settlementOrderOf(memo) === undefined ? memo.slice(SANDBOX_MEMO_PREFIX.length) : undefined;
}

function memoOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "memo" in body ? body.memo : undefined;
}

function isOneOf(codes: readonly ErrorCode[], name: string): name is ErrorCode {
  return isErrorCode(name) && codes.includes(name);
}

function errorDetailOf(code: ErrorCode): ErrorDetail {
  const details = detailsOf(code);
  return { code, detailsJson: details === null ? undefined : JSON.stringify(details) };
}

function detailsOf(code: ErrorCode): JsonObject | null {
  return exampleOf(code).error.details as JsonObject | null;
}
