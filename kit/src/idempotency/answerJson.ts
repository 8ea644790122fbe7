// Answers as JSON text. Dates, bigints and buffers come back as what they were.

export function toAnswerJson(answer: unknown): string {
  return JSON.stringify(answer, function (this: Record<string, unknown>, name: string, value: unknown) {
    // JSON.stringify has turned dates and buffers into other values already.
    const original = this[name];
    if (original instanceof Date) return { $date: original.toISOString() };
    if (Buffer.isBuffer(original)) return { $bytes: original.toString("base64") };
    return typeof value === "bigint" ? { $bigint: value.toString() } : value;
  });
}

/** PostgreSQL has parsed the text. */
export function fromAnswerJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromAnswerJson);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (typeof fields.$date === "string") return new Date(fields.$date);
  if (typeof fields.$bytes === "string") return Buffer.from(fields.$bytes, "base64");
  if (typeof fields.$bigint === "string") return BigInt(fields.$bigint);
  return Object.fromEntries(Object.entries(fields).map(([name, inner]) => [name, fromAnswerJson(inner)]));
}
