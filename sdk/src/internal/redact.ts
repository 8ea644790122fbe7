const CREDENTIAL = /\b(wk|sk)_([a-z]+)_[0-9A-Za-z_]+/g;
const MAX_DEPTH = 16;

/** Replaces every API key and secret key in the string. */
export function redact(text: string): string {
  return text.replace(CREDENTIAL, "$1_$2_[redacted]");
}

/** Copies a value with every key and string redacted. */
export function redactDeep<T>(value: T, depth = 0): T {
  if (typeof value === "string") return redact(value) as T;
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => redactDeep(item, depth + 1)) as T;
  const pairs = Object.entries(value).map(([key, item]) => [
    redact(key),
    redactDeep(item as unknown, depth + 1),
  ]);
  return Object.fromEntries(pairs) as T;
}
