import { z } from "zod";
import { queryMomentOf } from "../schemas";

/** A leap year. */
const MAX_DAYS = 366;
const DAY_MS = 24 * 3_600_000;
/** The clocks of the client and of the gateway differ by less. */
const MAX_CLOCK_SKEW_MS = 10_000;

/** The period that a report's query names. */
interface GivenPeriod {
  from?: unknown;
  to?: unknown;
}

/** The query of a report: a past period of at most a year, and the report's own fields. */
export function reportQuery<F extends z.ZodRawShape>(fields: F) {
  const period = {
    from: queryMomentOf("The start of the period, included."),
    to: queryMomentOf(
      `The end of the period, not included: not in the future, and at most ${MAX_DAYS} days after from. Omitted: now.`,
    ).optional(),
  };
  return z.strictObject({ ...period, ...fields }).superRefine((query, context) => {
    for (const [path, message] of problemsOf(query))
      context.addIssue({ code: "custom", path: [path], message });
  });
}

function problemsOf({ from, to }: GivenPeriod): [keyof GivenPeriod, string][] {
  // A field that is wrong by itself keeps its text, and has its own problem.
  if (!(from instanceof Date) || !(to === undefined || to instanceof Date)) return [];
  const nowMs = Date.now();
  const endMs = to?.getTime() ?? nowMs;
  if (endMs > nowMs + MAX_CLOCK_SKEW_MS) return [["to", "must not be in the future"]];
  if (to === undefined && from.getTime() > nowMs) return [["from", "must not be in the future"]];
  if (from.getTime() > endMs) return [["to", "must not be before from"]];
  if (endMs - from.getTime() > MAX_DAYS * DAY_MS)
    return [[to === undefined ? "from" : "to", `makes a period of more than ${MAX_DAYS} days`]];
  return [];
}
