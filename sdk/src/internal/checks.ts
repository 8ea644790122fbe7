// Checks before sending. A refused call gets the code that the service would answer.
import { errorMeanings, serviceError, type ServiceError, type ServiceErrorCode } from "../core/errors.ts";
import { findNameProblems, type KnownNames } from "./names.ts";

export interface FieldProblem {
  path: string;
  message: string;
}

type Check = FieldProblem | undefined;

const MEMO_MAX_CHARACTERS = 200;
const REFERENCE_MAX_CHARACTERS = 100;
const METADATA_MAX_PAIRS = 10;

/** The error for invalid fields. Its `details.fields` has the same form as the service's. */
export function invalidFields(
  fields: FieldProblem[],
  code: ServiceErrorCode = "REQ_001",
  cause?: unknown,
): ServiceError {
  return serviceError({ code, status: errorMeanings[code].status, details: { fields }, cause });
}

/** Throws when a check found a problem. */
export function throwProblems(checks: Check[], code?: ServiceErrorCode): void {
  const problems = checks.filter((check) => check !== undefined);
  if (problems.length > 0) throw invalidFields(problems, code);
}

/** Returns an id for a path. An id of another form cannot exist, and could change the path. */
export function pathSegment(name: string, id: string, notFound: ServiceErrorCode): string {
  if (typeof id !== "string" || id === "") throw invalidFields([{ path: name, message: missingId(id) }]);
  if (/^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw serviceError({ code: notFound, status: errorMeanings[notFound].status });
}

function missingId(id: unknown): string {
  if (id === "") return "must be an id, but is empty";
  return `must be an id, but is ${id == null ? String(id) : `of type ${typeof id}`}`;
}

/** Returns the request. Throws when it is no object, or has names that `known` does not allow. */
export function requireFields<T extends object>(
  path: "(body)" | "(query)",
  given: T,
  known: KnownNames<T>,
): T {
  if (!isObject(given)) throw invalidFields([{ path, message: "must be an object" }]);
  throwProblems(findNameProblems(given, known).map(({ name, message }) => ({ path: name, message })));
  return given;
}

export function isObject(given: unknown): given is object {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** Whole KRW that a JSON number carries exactly. */
export function checkWon(path: string, amount: unknown): Check {
  return Number.isSafeInteger(amount) ? undefined : { path, message: "must be a whole number of KRW" };
}

export function checkMinimum(path: string, amount: number, minimum: number): Check {
  return amount >= minimum ? undefined : { path, message: `must be at least ${minimum}` };
}

export function checkMemo(memo: unknown): Check {
  if (memo === undefined) return undefined;
  if (typeof memo !== "string") return { path: "memo", message: "must be a string" };
  if ([...memo].length <= MEMO_MAX_CHARACTERS) return undefined;
  return { path: "memo", message: `must be at most ${MEMO_MAX_CHARACTERS} characters long` };
}

export function checkReference(reference: unknown): Check {
  if (reference === undefined) return undefined;
  const message = `must be a string of 1 to ${REFERENCE_MAX_CHARACTERS} characters`;
  const isFit =
    typeof reference === "string" && reference !== "" && [...reference].length <= REFERENCE_MAX_CHARACTERS;
  return isFit ? undefined : { path: "reference", message };
}

export function checkMetadata(metadata: unknown): Check {
  if (metadata === undefined) return undefined;
  const path = "metadata";
  if (!isObject(metadata) || Object.values(metadata).some((value) => typeof value !== "string"))
    return { path, message: "must be an object of strings" };
  const message = `must have at most ${METADATA_MAX_PAIRS} pairs`;
  return Object.keys(metadata).length > METADATA_MAX_PAIRS ? { path, message } : undefined;
}

export function checkAddress(path: string, address: unknown): Check {
  return checkPattern(path, address, /^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex digits");
}

export function checkTxHash(path: string, hash: unknown): Check {
  return checkPattern(path, hash, /^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits");
}

/** An amount in the token's smallest unit. */
export function checkUnits(path: string, amount: unknown): Check {
  const message = "must be a whole number in digits, without sign, point or leading zeros";
  return checkPattern(path, amount, /^(0|[1-9][0-9]{0,77})$/, message);
}

function checkPattern(path: string, value: unknown, pattern: RegExp, message: string): Check {
  return typeof value === "string" && pattern.test(value) ? undefined : { path, message };
}

const ISO_WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

export function checkTime(path: string, time: unknown): Check {
  if (typeof time === "string" && ISO_WITH_ZONE.test(time) && isCalendarDate(time)) return undefined;
  return { path, message: "must be an ISO 8601 date-time with seconds and a zone" };
}

/** Date.parse reads the 30th of February as the 2nd of March. */
function isCalendarDate(time: string): boolean {
  const day = time.slice(0, 10);
  const dayMs = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(time)) && new Date(dayMs).toISOString().startsWith(day);
}

export function checkFuture(path: string, time: unknown): Check {
  const problem = checkTime(path, time);
  if (problem || Date.parse(time as string) > Date.now()) return problem;
  return { path, message: "must be in the future" };
}
