import { readBodyHash, readIdempotencyKey } from "../grpc/server/read";

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  readonly orgId: string;
  /** Each operation has its own keys. */
  readonly operation: string;
  readonly key: string;
  /** SHA-256 of all that distinguishes the request: the ids of its path and its body. */
  readonly requestHash: Buffer;
}

/** Reads the key of a message. Undefined without one: the request is executed each time. */
export function readKeyedRequest(
  operation: string,
  orgId: string,
  { idempotencyKey, bodyHash }: { idempotencyKey?: string | undefined; bodyHash?: Buffer | undefined },
): KeyedRequest | undefined {
  if (idempotencyKey === undefined) return undefined;
  const key = readIdempotencyKey(idempotencyKey);
  return { orgId, operation, key, requestHash: readBodyHash(bodyHash) };
}
