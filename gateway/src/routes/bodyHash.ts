import { hash } from "node:crypto";

/** Hash of the parsed body, equal for any order and spelling of its JSON. */
export function bodyHash(body: object): Buffer {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify(entries), "buffer");
}
