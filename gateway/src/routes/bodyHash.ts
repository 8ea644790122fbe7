import { hash } from "node:crypto";

/** The same request whatever the order and spelling of its JSON: the hash is over what was understood. */
export function bodyHash(body: object): Buffer {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify(entries), "buffer");
}
