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

/** How many bytes an element takes, and their writing, which gives where they end. */
interface ElementType<T extends ArrayElement> {
  oid: number;
  sizeOf: (value: ArrayElement) => number | undefined;
  write: (into: Buffer, value: T, at: number) => number;
}

const TEXT: ElementType<string> = {
  oid: TEXT_OID,
  sizeOf: (value) => (typeof value === "string" ? Buffer.byteLength(value) : undefined),
  write: (into, value, at) => at + into.write(value, at),
};
const BYTEA: ElementType<Uint8Array> = {
  oid: BYTEA_OID,
  sizeOf: (value) => (value instanceof Uint8Array ? value.length : undefined),
  write: (into, value, at) => (into.set(value, at), at + value.length),
};
const BIGINT: ElementType<bigint> = {
  oid: BIGINT_OID,
  sizeOf: (value) => (typeof value === "bigint" && BigInt.asIntN(64, value) === value ? 8 : undefined),
  write: (into, value, at) => into.writeBigInt64BE(value, at),
};
const INTEGER: ElementType<number> = {
  oid: INTEGER_OID,
  sizeOf: (value) => (typeof value === "number" && (value | 0) === value ? 4 : undefined),
  write: (into, value, at) => into.writeInt32BE(value, at),
};
const SMALLINT: ElementType<number> = {
  oid: SMALLINT_OID,
  sizeOf: (value) => (typeof value === "number" && (value << 16) >> 16 === value ? 2 : undefined),
  write: (into, value, at) => into.writeInt16BE(value, at),
};

const ENCODERS: [cast: string, encode: Encode][] = [
  ["::text[]", (values) => encode(TEXT, values)],
  ["::bytea[]", (values) => encode(BYTEA, values)],
  ["::bigint[]", (values) => encode(BIGINT, values)],
  ["::integer[]", (values) => encode(INTEGER, values)],
  ["::smallint[]", (values) => encode(SMALLINT, values)],
];

/** The array for the cast that follows it; undefined when only the text form will do. */
export function binaryArray(values: Values, cast: string): Buffer | undefined {
  if (values.length === 0) return undefined;
  for (const [known, encode] of ENCODERS) if (cast.startsWith(known)) return encode(values);
  return undefined;
}

function encode<T extends ArrayElement>(type: ElementType<T>, values: Values): Buffer | undefined {
  let size = HEADER_BYTES + values.length * LENGTH_BYTES;
  for (const value of values) {
    if (value === null) continue;
    const bytes = type.sizeOf(value);
    if (bytes === undefined) return undefined;
    size += bytes;
  }
  const array = startArray(type.oid, values, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    if (value === null) {
      at = array.writeInt32BE(NULL_LENGTH, at);
      continue;
    }
    const end = type.write(array, value as T, at + LENGTH_BYTES);
    array.writeInt32BE(end - at - LENGTH_BYTES, at);
    at = end;
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
