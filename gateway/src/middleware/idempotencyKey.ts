import { type IncomingMessage } from "node:http";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { countHeader } from "./countHeader";

/** HTTP has cut off the spaces at its ends. */
export const IDEMPOTENCY_KEY_FORM = /^[\x20-\x7e]{1,255}$/;

/** Returns the request's Idempotency-Key, if any. Two keys are refused as ambiguous. */
export function idempotencyKey(req: IncomingMessage): string | undefined {
  const key = req.headers["idempotency-key"] as string | undefined;
  if (key === undefined) return undefined;
  if (!IDEMPOTENCY_KEY_FORM.test(key)) throw refused("must be 1 to 255 printable ASCII characters");
  // Node joins repeated headers with a comma, and a key may contain a comma. So the raw headers are
  // counted.
  if (key.includes(",") && countHeader(req, "idempotency-key") > 1) throw refused("is given twice");
  return key;
}

function refused(message: string) {
  return invalidRequest([{ path: "(header) Idempotency-Key", message }]);
}
