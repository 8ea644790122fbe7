/** The first cell of the last record. A file without it is not complete. */
export const END_OF_CSV = "END";

/** Characters that begin a formula in a spreadsheet. Some programs treat full-width forms alike. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NEEDS_QUOTES = /[",\r\n]/;

/** Writes a record of CSV (RFC 4180). A cell that a spreadsheet would run as a formula begins with '. */
export function csvRecord(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(value: string | number | null): string {
  if (value === null) return "";
  // A number is no formula.
  if (typeof value === "number") return String(value);
  const safe = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
