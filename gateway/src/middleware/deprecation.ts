import { type Deprecation } from "../routes/operation";

/** The headers Deprecation (RFC 9745) and Sunset (RFC 8594), as names and values. */
export function deprecationHeaders(deprecation: Deprecation | undefined): readonly string[] {
  if (!deprecation) return NONE;
  const { since, sunset } = deprecation;
  return ["Deprecation", `@${Date.parse(since) / 1_000}`, "Sunset", new Date(sunset).toUTCString()];
}

const NONE: readonly string[] = [];
