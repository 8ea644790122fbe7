import { hash } from "node:crypto";
import { type Call } from "./operation";

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

/**
 * The Idempotency-Key of a call and the hash of its content, for a service. The content includes
 * the ids of the path, because a key belongs to one request.
 */
export function keyedBy(
  { idempotencyKey }: Pick<Call, "idempotencyKey">,
  content: object,
): { idempotencyKey?: string; bodyHash?: Buffer } {
  return idempotencyKey === undefined ? {} : { idempotencyKey, bodyHash: bodyHash(content) };
}

/** Options of a call that its Idempotency-Key makes safe to repeat. */
export function retriedBy({ idempotencyKey }: Pick<Call, "idempotencyKey">): { retry?: true } {
  return idempotencyKey === undefined ? {} : { retry: true };
}
