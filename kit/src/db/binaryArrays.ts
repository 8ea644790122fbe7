import type { ArrayElement } from "./arrays";

// Arrays in the form in which Postgres keeps them: reading the text form takes it ten times as long, of bytes above all.

const BYTEA_OID = 17;
const BIGINT_OID = 20;
const SMALLINT_OID = 21;
const INTEGER_OID = 23;
const TEXT_OID = 25;
/** Dimensions, "has nulls", the elements' type, how many there are, the first one's index. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

type Values = readonly ArrayElement[];
/** Undefined when an element is not of the type, or not within it: what Postgres makes of that is its own business. */
type Encode = (values: Values) => Buffer | undefined;

const ENCODERS: [cast: string, encode: Encode][] = [
  ["::text[]", texts],
  ["::bytea[]", bytes],
  [
    "::bigint[]",
    (values) =>
      numbers(BIGINT_OID, 8, values, isBigint, (into, value, at) => into.writeBigInt64BE(value, at)),
  ],
  [
    "::integer[]",
    (values) => numbers(INTEGER_OID, 4, values, isInteger, (into, value, at) => into.writeInt32BE(value, at)),
  ],
  [
    "::smallint[]",
    (values) =>
      numbers(SMALLINT_OID, 2, values, isSmallint, (into, value, at) => into.writeInt16BE(value, at)),
  ],
];

/** The array for the cast that follows it; undefined when only the text form will do. */
export function binaryArray(values: Values, cast: string): Buffer | undefined {
  if (values.length === 0) return undefined;
  for (const [known, encode] of ENCODERS) if (cast.startsWith(known)) return encode(values);
  return undefined;
}

function texts(values: Values): Buffer | undefined {
  let size = HEADER_BYTES + values.length * LENGTH_BYTES;
  for (const value of values) {
    if (typeof value === "string") size += Buffer.byteLength(value);
    else if (value !== null) return undefined;
  }
  const array = startArray(TEXT_OID, values, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (typeof value !== "string") at = array.writeInt32BE(NULL_LENGTH, at);
    else {
      const length = array.write(value, at + LENGTH_BYTES);
      array.writeInt32BE(length, at);
      at += LENGTH_BYTES + length;
    }
  }
  return array;
}

function bytes(values: Values): Buffer | undefined {
  let size = HEADER_BYTES + values.length * LENGTH_BYTES;
  for (const value of values) {
    if (value instanceof Uint8Array) size += value.length;
    else if (value !== null) return undefined;
  }
  const array = startArray(BYTEA_OID, values, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (!(value instanceof Uint8Array)) at = array.writeInt32BE(NULL_LENGTH, at);
    else {
      at = array.writeInt32BE(value.length, at);
      array.set(value, at);
      at += value.length;
    }
  }
  return array;
}

function numbers<T extends ArrayElement>(
  oid: number,
  width: number,
  values: Values,
  fits: (value: ArrayElement) => value is T,
  write: (into: Buffer, value: T, at: number) => void,
): Buffer | undefined {
  let size = HEADER_BYTES + values.length * LENGTH_BYTES;
  for (const value of values) {
    if (fits(value)) size += width;
    else if (value !== null) return undefined;
  }
  const array = startArray(oid, values, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (!fits(value)) at = array.writeInt32BE(NULL_LENGTH, at);
    else {
      at = array.writeInt32BE(width, at);
      write(array, value, at);
      at += width;
    }
  }
  return array;
}

function startArray(oid: number, values: Values, size: number): Buffer {
  const array = Buffer.allocUnsafe(size);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(values.includes(null) ? 1 : 0, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(values.length, 12);
  array.writeInt32BE(1, 16);
  return array;
}

function isBigint(value: ArrayElement): value is bigint {
  return typeof value === "bigint" && BigInt.asIntN(64, value) === value;
}

function isInteger(value: ArrayElement): value is number {
  return typeof value === "number" && (value | 0) === value;
}

function isSmallint(value: ArrayElement): value is number {
  return typeof value === "number" && (value << 16) >> 16 === value;
}
