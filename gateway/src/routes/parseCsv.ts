import { invalidRequest } from "@wonrail/kit/contract/errors";

/**
 * Reads CSV as RFC 4180 describes it: records of cells, separated by commas. A cell in quotes may
 * have commas, line ends, and quotes that are doubled.
 */
export function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let at = text.startsWith("\u{feff}") ? 1 : 0;
  let record: string[] = [];
  while (at < text.length) {
    const { cell, end } = text[at] === '"' ? quotedCell(text, at, records.length) : plainCell(text, at);
    record.push(cell);
    const lineEnd = text.startsWith("\r\n", end) ? 2 : 1;
    if (end < text.length && text[end] === ",") {
      at = end + 1;
      // A comma at the end of the text is followed by an empty cell.
      if (at === text.length) record.push("");
      continue;
    }
    if (end < text.length && text[end] !== "\n" && lineEnd === 1)
      throw refused(records.length, "has characters behind a quoted cell");
    records.push(record);
    record = [];
    at = end + lineEnd;
  }
  if (record.length > 0) records.push(record);
  return records;
}

function plainCell(text: string, start: number): { cell: string; end: number } {
  const behind = /[,\n]|\r\n/g;
  behind.lastIndex = start;
  const end = behind.exec(text)?.index ?? text.length;
  return { cell: text.slice(start, end), end };
}

function quotedCell(text: string, start: number, record: number): { cell: string; end: number } {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end === -1) throw refused(record, "has a quote without an end");
  return { cell: text.slice(start + 1, end).replaceAll('""', '"'), end: end + 1 };
}

function refused(record: number, message: string) {
  return invalidRequest([{ path: "csv", message: `record ${record + 1} ${message}` }]);
}
