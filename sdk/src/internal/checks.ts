import { serviceError, type ServiceError, type ServiceErrorCode, errorMeanings } from "../core/errors.ts";

// What can be known to be wrong is refused before it is sent, with the code that the service would answer with.

export interface FieldProblem {
  path: string;
  message: string;
}

type Check = FieldProblem | undefined;

const MEMO_MAX_CHARACTERS = 200;

export function refusal(
  fields: FieldProblem[],
  code: ServiceErrorCode = "REQ_001",
  cause?: unknown,
): ServiceError {
  return serviceError({ code, status: errorMeanings[code].status, details: { fields }, cause });
}

/** Throws when one of the checks found a problem. */
export function accept(checks: Check[], code?: ServiceErrorCode): void {
  const problems = checks.filter((check) => check !== undefined);
  if (problems.length > 0) throw refusal(problems, code);
}

/** An id as a part of a path. One of another form cannot exist, and could lead the request to another path. */
export function pathId(id: string, absent: ServiceErrorCode): string {
  if (typeof id === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(id)) return id;
  throw serviceError({ code: absent, status: errorMeanings[absent].status });
}

/** What is sent as a whole. Callers without the compiler leave it out, or give something else. */
export function asObject<T>(path: "(body)" | "(query)", given: T): T {
  if (isObject(given)) return given;
  throw refusal([{ path, message: "must be an object" }]);
}

export function isObject(given: unknown): given is object {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** Whole KRW that a JSON number carries exactly. */
export function wholeWon(path: string, amount: unknown): Check {
  return Number.isSafeInteger(amount) ? undefined : { path, message: "must be a whole number of KRW" };
}

export function atLeast(path: string, amount: number, minimum: number): Check {
  return amount >= minimum ? undefined : { path, message: `must be at least ${minimum}` };
}

export function memoFits(memo: unknown): Check {
  if (memo === undefined) return undefined;
  if (typeof memo !== "string") return { path: "memo", message: "must be a text" };
  if ([...memo].length <= MEMO_MAX_CHARACTERS) return undefined;
  return { path: "memo", message: `must be at most ${MEMO_MAX_CHARACTERS} characters long` };
}

export function isAddress(path: string, address: unknown): Check {
  return matches(path, address, /^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex digits");
}

export function isTxHash(path: string, hash: unknown): Check {
  return matches(path, hash, /^0x[0-9a-fA-F]{64}$/, "must be 0x and 64 hex digits");
}

export function isUnits(path: string, amount: unknown): Check {
  const message = "must be a whole number in digits, without sign, point or leading zeros";
  return matches(path, amount, /^(0|[1-9][0-9]{0,77})$/, message);
}

function matches(path: string, value: unknown, form: RegExp, message: string): Check {
  return typeof value === "string" && form.test(value) ? undefined : { path, message };
}

const ISO_WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

export function isMoment(path: string, moment: unknown): Check {
  if (typeof moment === "string" && ISO_WITH_ZONE.test(moment) && isInCalendar(moment)) return undefined;
  return { path, message: "must be an ISO 8601 date-time with seconds and a zone" };
}

/** Date.parse takes the 30th of February for the 2nd of March. */
function isInCalendar(moment: string): boolean {
  const day = moment.slice(0, 10);
  const dayMs = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(moment)) && new Date(dayMs).toISOString().startsWith(day);
}

export function isInFuture(path: string, moment: unknown): Check {
  const problem = isMoment(path, moment);
  if (problem || Date.parse(moment as string) > Date.now()) return problem;
  return { path, message: "must be in the future" };
}
