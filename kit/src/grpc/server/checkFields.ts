import { type FieldProblem, invalidRequest } from "../../contract/errors";
import { MAX_INT64 } from "../../maxInt64";

/** Range of a protobuf Timestamp: the years 1 to 9999. */
const FIRST_TIME_MS = Date.parse("0001-01-01T00:00:00.000Z");
const LAST_TIME_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** Refuses a request with a number or a time that cannot be stored, and names the field. */
export function checkFields(request: unknown): void {
  const problem = findProblem(request);
  if (problem) throw invalidRequest([problem]);
}

/** The first problem in a decoded message. Paths are built only after a problem was found. */
function findProblem(value: unknown): FieldProblem | undefined {
  if (typeof value === "bigint")
    return value > MAX_INT64 ? { path: "", message: `must be at most ${MAX_INT64}` } : undefined;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  if (value instanceof Date)
    return isTimestamp(value) ? undefined : { path: "", message: "must be a time of the years 1 to 9999" };
  for (const name in value) {
    const problem = findProblem((value as Record<string, unknown>)[name]);
    if (problem) return { ...problem, path: joinPath(nameOf(value, name), problem.path) };
  }
  return undefined;
}

function isTimestamp(time: Date): boolean {
  // Both comparisons are false for an invalid Date.
  return time.getTime() >= FIRST_TIME_MS && time.getTime() <= LAST_TIME_MS;
}

/** A generated oneof is `{ $case, value }`: its value has the name of its case. */
function nameOf(parent: object, name: string): string {
  if (Array.isArray(parent)) return `[${name}]`;
  return name === "value" && "$case" in parent ? String(parent.$case) : name;
}

function joinPath(name: string, rest: string): string {
  return rest === "" || rest.startsWith("[") ? `${name}${rest}` : `${name}.${rest}`;
}
