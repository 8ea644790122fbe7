/** JSON for programs, or lines for people. */
export function print(
  { out }: { out: (text: string) => void },
  json: boolean | undefined,
  result: unknown,
  human: string[],
): void {
  out(json ? `${JSON.stringify(result, asText, 2)}\n` : human.map((line) => `${line}\n`).join(""));
}

/** One name and value per line. */
export function lines(record: object): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).map(([name, value]) => `${visible(name).padEnd(width)}  ${shown(value)}`);
}

/** Prints these columns, or all of the first row. */
export function table<T extends object>(
  rows: readonly T[],
  columns = Object.keys(rows[0] ?? {}) as (keyof T & string)[],
): string[] {
  if (rows.length === 0) return ["none"];
  const cells = [columns, ...rows.map((row) => columns.map((column) => shown(row[column])))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]!.length)));
  return cells.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index]!))
      .join("  ")
      .trimEnd(),
  );
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "-";
  if (typeof value === "string") return visible(value);
  return visible(value instanceof Date ? value.toISOString() : JSON.stringify(value, asText));
}

/**
 * Removes control characters, so that foreign text can neither move the cursor nor imitate a line.
 */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);
}

function asText(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
