import { type z } from "zod";
import {
  DomainError,
  type ErrorCode,
  type FieldProblem,
  invalidRequest,
  isErrorCode,
} from "@wonrail/kit/contract/errors";
import { pathText } from "./strictJson";

/** A refusal names at most so many fields. */
export const MAX_PROBLEMS = 100;

/**
 * Checks a value against its schema and reports every problem at once. A malformed id decides the
 * answer. Another check with its own code (TRF_002, PAY_002 …) decides it only when the rest is
 * valid.
 */
export function validate<S extends z.ZodType>(
  schema: S,
  value: unknown,
  place: "body" | "query" | "path",
  found: FieldProblem[] = [],
): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success && found.length === 0) return parsed.data;

  const issues = parsed.success ? [] : parsed.error.issues;
  const known = new Set(found.map((problem) => problem.path));
  const fields = [
    ...found,
    ...issues.flatMap((issue) => problemsOf(issue, place)).filter(({ path }) => !known.has(path)),
  ];
  // More would help no reader.
  fields.splice(MAX_PROBLEMS);
  const refusal = found.length === 0 ? ownRefusal(issues) : undefined;
  if (!refusal) throw invalidRequest(fields);
  const { code, named, path } = refusal;
  if (named === undefined) throw new DomainError(code, { fields: fields.map((field) => ({ ...field })) });
  throw new DomainError(code, named === null ? null : { [named]: textAt(value, path) });
}

/** A failed check with its own code instead of REQ_001. */
interface OwnRefusal {
  code: ErrorCode;
  path: PropertyKey[];
  /**
   * For an id that does not exist: the detail that names it, or null when there is none. Undefined
   * for other checks, whose details are the fields.
   */
  named: string | null | undefined;
}

function ownRefusal(issues: z.core.$ZodIssue[]): OwnRefusal | undefined {
  const refusals = issues.map(refusalOf);
  // A malformed id is 404 whatever else is wrong: the status must not depend on other fields.
  const absent = refusals.find((refusal) => refusal?.named !== undefined);
  return absent ?? (refusals.includes(undefined) ? undefined : refusals[0]);
}

function refusalOf(issue: z.core.$ZodIssue): OwnRefusal | undefined {
  const params = issue.code === "custom" ? issue.params : undefined;
  const code: unknown = params?.code;
  if (!isErrorCode(code)) return undefined;
  return { code, path: issue.path, named: params!.named as OwnRefusal["named"] };
}

function textAt(value: unknown, path: PropertyKey[]): string {
  return path.reduce((inner, name) => (inner as Record<PropertyKey, unknown>)[name], value) as string;
}

function problemsOf(issue: z.core.$ZodIssue, place: string): FieldProblem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      path: pathText([...issue.path, key]),
      message: `is not a field of this ${place === "body" ? "request" : place}`,
    }));
  }
  if (issue.code === "invalid_union") {
    // If one form alone has all the given fields, its problems are reported.
    const forms = issue.errors.filter((errors) => errors.every(({ code }) => code !== "unrecognized_keys"));
    if (forms.length === 1)
      return forms[0]!.flatMap((one) => problemsOf({ ...one, path: [...issue.path, ...one.path] }, place));
  }
  const path = issue.path.length === 0 ? `(${place})` : pathText(issue.path);
  return [{ path, message: sentence(issue) }];
}

/** Messages in one style, without the caller's values. */
function sentence(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.message.endsWith("received undefined") ? "is required" : `must be ${kind(issue.expected)}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "invalid_union":
      return issue.discriminator === undefined ? "has none of the accepted forms" : unionSentence(issue);
    case "too_big":
      return `must be at most ${issue.maximum}${issue.origin === "string" ? " characters long" : ""}`;
    case "too_small":
      return `must be at least ${issue.minimum}${issue.origin === "string" ? " characters long" : ""}`;
    case "invalid_key":
      return issue.issues[0]?.message ?? "is not an accepted key";
    default:
      return issue.message;
  }
}

function unionSentence(issue: z.core.$ZodIssueInvalidUnion): string {
  const options = (issue as { options?: unknown[] }).options;
  return options === undefined
    ? "must be an accepted value"
    : `must be one of ${options.map(String).join(", ")}`;
}

function kind(expected: string): string {
  switch (expected) {
    case "int":
      return "a whole number";
    case "string":
      return "a string";
    case "object":
    case "record":
      return "an object";
    case "array":
      return "an array";
    case "boolean":
      return "true or false";
    default:
      return `a ${expected}`;
  }
}
