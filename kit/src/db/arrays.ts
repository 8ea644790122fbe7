/** Element of a Postgres array parameter. */
export type ArrayElement = null | boolean | number | bigint | string | Date | Uint8Array;

/**
 * Literal of a one-dimensional Postgres array. Set-based writes carry a thousand values in each of
 * twenty columns, and the driver's rendering (a regular expression and a recursion per element) is
 * several times slower.
 */
export function arrayLiteral(values: readonly ArrayElement[]): string {
  if (values.length === 0) return "{}";
  let text = "{";
  for (let index = 0; index < values.length; index += 1) {
    if (index > 0) text += ",";
    text += elementText(values[index]);
  }
  return `${text}}`;
}

function elementText(value: ArrayElement | undefined): string {
  switch (typeof value) {
    case "string":
      return quoted(value);
    case "bigint":
      return value.toString();
    case "number":
      return String(value);
    case "boolean":
      return value ? "t" : "f";
    default:
      return objectText(value);
  }
}

function objectText(value: Date | Uint8Array | null | undefined): string {
  if (value === null) return "NULL";
  if (value instanceof Date) return `"${value.toISOString()}"`;
  if (value instanceof Uint8Array) return `"\\\\x${bufferOf(value).toString("hex")}"`;
  throw new Error("assertion failed: an SQL array holds only scalars; use null for what is absent");
}

/** Always quoted, so that no text can be read as NULL, as two elements or as a nested array. */
function quoted(text: string): string {
  return NEEDS_ESCAPE.test(text) ? `"${text.replace(ESCAPED, "\\$&")}"` : `"${text}"`;
}

const NEEDS_ESCAPE = /["\\]/;
const ESCAPED = /["\\]/g;

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
