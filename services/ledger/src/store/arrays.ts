// Forms of array parameters that the kit does not have.
import { hexOf } from "@wonrail/kit/contract/ids";

const UUID_OID = 2950;
/** Dimensions, "has nulls", the elements' type, how many there are, the first one's index. */
const HEADER_BYTES = 20;

/** Returns an array of UUIDs in binary form. The ids may have prefixes. */
export function uuidArray(ids: readonly string[]): Uint8Array {
  let hex = header(UUID_OID, ids.length).toString("hex");
  for (const id of ids) hex += `00000010${hexOf(id)}`;
  return Buffer.from(hex, "hex");
}

function header(oid: number, length: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(oid, 8);
  bytes.writeInt32BE(length, 12);
  bytes.writeInt32BE(1, 16);
  return bytes;
}

/** Literal of an array whose elements need no quotes: letters, hex digits and hyphens. */
export function arrayLiteral(values: readonly string[]): string {
  return `{${values.join(",")}}`;
}

/** Elements for `unnest` beside longer arrays, which pads with nulls: empty when all are null. */
export function emptyWhenAllNull<T>(values: readonly (T | null)[]): readonly (T | null)[] {
  return values.some((value) => value !== null) ? values : [];
}
