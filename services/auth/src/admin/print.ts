import { type World } from "./world";

type Cell = string | number | boolean;

/** JSON for programs, or lines for people. */
export function print({ out }: World, json: boolean | undefined, result: unknown, human: string[]): void {
  out(json ? `${JSON.stringify(result, null, 2)}\n` : human.map((line) => `${line}\n`).join(""));
}

/** One name and value a line. */
export function lines(record: Record<string, Cell>): string[] {
  const width = Math.max(...Object.keys(record).map((name) => name.length));
  return Object.entries(record).map(([name, value]) => `${visible(name).padEnd(width)}  ${visible(value)}`);
}

export function table<T>(rows: T[], columns: (keyof T & string)[]): string[] {
  if (rows.length === 0) return ["none"];
  const cells = [columns, ...rows.map((row) => columns.map((column) => visible(String(row[column]))))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]!.length)));
  return cells.map((row) =>
    row
      .map((text, index) => text.padEnd(widths[index]!))
      .join("  ")
      .trimEnd(),
  );
}

/** A message from the bus may hold anything: nothing of it may move the cursor or pass for another line. */
function visible(value: Cell): string {
  return String(value).replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)!.toString(16)}}`;
  });
}
