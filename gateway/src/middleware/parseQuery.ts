import { type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";

const MAX_PARAMETERS = 32;

/** Parses a query. A repeated name is refused, because parsers disagree on which one counts. */
export function parseQuery(url: string): Record<string, string> {
  const query: Record<string, string> = Object.create(null) as Record<string, string>;
  const start = url.indexOf("?");
  if (start === -1 || start === url.length - 1) return query;
  const problems: FieldProblem[] = [];
  const parts = url.slice(start + 1).split("&", MAX_PARAMETERS + 1);
  if (parts.length > MAX_PARAMETERS) {
    throw invalidRequest([{ path: "(query)", message: `has more than ${MAX_PARAMETERS} parameters` }]);
  }
  for (const part of parts) {
    if (part === "") continue;
    const [name, value] = splitOnce(part).map(decode);
    if (name === undefined || value === undefined) {
      problems.push({ path: "(query)", message: "has percent-encoding that is not valid text" });
    } else if (name in query) {
      problems.push({ path: name, message: "is given twice" });
    } else {
      query[name] = value;
    }
  }
  if (problems.length > 0) throw invalidRequest(problems);
  return query;
}

function splitOnce(part: string): [string, string] {
  const at = part.indexOf("=");
  return at === -1 ? [part, ""] : [part.slice(0, at), part.slice(at + 1)];
}

/** Returns undefined for invalid UTF-8 and for a NUL, which no database can store. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text.replaceAll("+", " "));
    return decoded.includes("\0") ? undefined : decoded;
  } catch {
    return undefined;
  }
}
