import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";
import { isId, type IdPrefix } from "@wonrail/kit/contract/ids";
import { parseWon, type Won } from "@wonrail/kit/contract/money";

/** Readers of the fields of a request. A malformed field is REQ_001. */

export const MAX_TEXT = 200;
const MAX_NAME = 255;
const ANY_ID = /^[a-z]{3}_[0-9a-f]{32}$/;
const CONTROL = /\p{Cc}/u;

export function id<P extends IdPrefix>(prefix: P, value: string, path: string): string {
  check(isId(prefix, value), path, `must be an id that starts with ${prefix}_`);
  return value;
}

export function anyId(value: string, path: string): string {
  check(ANY_ID.test(value), path, "must be an id");
  return value;
}

export function address(value: string, path: string): string {
  check(ADDRESS_FORM.test(value), path, "must be an address");
  return value.toLowerCase();
}

export function printable(value: string, path: string): string {
  check(
    value.length >= 1 && value.length <= MAX_NAME && !CONTROL.test(value),
    path,
    `must have 1 to ${MAX_NAME} characters and no control characters`,
  );
  return value;
}

export function positive(value: string, path: string): Won {
  const amountWon = parseWon(value, path);
  check(amountWon > 0n, path, "must be more than 0");
  return amountWon;
}

export function checkText(text: string | null, path: string, max: number): void {
  check(text === null || [...text].length <= max, path, `must be at most ${max} characters`);
  check(text === null || !text.includes("\0"), path, "must not contain the character NUL");
}

export function check(holds: boolean, path: FieldProblem["path"], message: string): asserts holds {
  if (!holds) throw invalidRequest([{ path, message }]);
}
