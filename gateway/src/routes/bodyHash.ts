import { hash } from "node:crypto";
import { type Call } from "./operation";

/** Hash of the parsed body, equal for any order and spelling of its JSON. */
export function bodyHash(body: object): Buffer {
  const entries = Object.entries(body).filter(([, value]) => value !== undefined);
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return hash("sha256", JSON.stringify(entries), "buffer");
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
