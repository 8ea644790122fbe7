import { hash } from "node:crypto";

/** Hash of the parsed body, equal for any order and spelling of its JSON. */
export function bodyHash(body: object): Buffer {
  return hash("sha256", JSON.stringify(sorted(body)), "buffer");
}

/** Objects become lists of their pairs in the order of their names. */
function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const pairs = Object.entries(value).filter(([, each]) => each !== undefined);
  pairs.sort(([one], [other]) => (one < other ? -1 : 1));
  return pairs.map(([name, each]) => [name, sorted(each)]);
}
