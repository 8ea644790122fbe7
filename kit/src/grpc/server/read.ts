import { invalidRequest } from "../../contract/errors";
import { type Id, isId } from "../../contract/ids";
import { MAX_CLOCK_OFFSET_MS, type SandboxClock } from "../../contract/sandboxClock";

// Parsers of request fields that several services share. Fields have their public camelCase names.

const PRINTABLE_ASCII = /^[\x20-\x7e]{1,255}$/;

export function readOrgId(text: string | undefined, path = "orgId"): Id<"org"> {
  if (!isId("org", text)) throw invalidRequest([{ path, message: "must be an organisation's id" }]);
  return text;
}

export function readIdempotencyKey(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  const message = "must be 1 to 255 printable ASCII characters";
  throw invalidRequest([{ path: "idempotencyKey", message }]);
}

export function readBodyHash(bytes: Buffer | undefined): Buffer {
  if (bytes?.length !== 32) throw invalidRequest([{ path: "bodyHash", message: "must be 32 bytes" }]);
  return bytes;
}

export function readSandboxClock({ orgId, offsetMs }: { orgId: string; offsetMs: bigint }): SandboxClock {
  if (offsetMs > MAX_CLOCK_OFFSET_MS)
    throw invalidRequest([{ path: "offsetMs", message: `must be at most ${MAX_CLOCK_OFFSET_MS}` }]);
  return { orgId: readOrgId(orgId), offsetMs: Number(offsetMs) };
}

/** A list that is no longer than the method takes. */
export function readAtMost<T>(max: number, list: T[], path: string): T[] {
  if (list.length > max) throw invalidRequest([{ path, message: `has more than ${max} entries` }]);
  return list;
}
