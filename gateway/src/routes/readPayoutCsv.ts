import { invalidRequest } from "@wonrail/kit/contract/errors";
import { parseCsv } from "./parseCsv";

const REQUIRED = ["toWalletAddress", "amount"];
const COLUMNS = [...REQUIRED, "memo", "reference", "idempotencyKey"];
const PLAIN_INTEGER = /^(0|[1-9][0-9]{0,15})$/;

/** The rows of a payout's CSV as objects, whose fields are not checked yet. */
export function readPayoutCsv(text: string): { csv: Record<string, unknown>[] } {
  const [names = [], ...records] = parseCsv(text);
  const isKnown = names.every((name, index) => COLUMNS.includes(name) && names.indexOf(name) === index);
  if (!isKnown || !REQUIRED.every((name) => names.includes(name)))
    throw refused(
      `must begin with the names of the columns: ${REQUIRED.join(" and ")}, and of ${COLUMNS.slice(2).join(", ")} those that are used`,
    );
  return { csv: records.map((record, index) => rowOf(names, record, index)) };
}

function rowOf(names: string[], record: string[], index: number): Record<string, unknown> {
  if (record.length !== names.length)
    throw refused(`record ${index + 2} has ${record.length} cells and not ${names.length}`);
  const row: Record<string, unknown> = {};
  names.forEach((name, column) => {
    const cell = record[column]!;
    if (cell !== "") row[name] = name === "amount" && PLAIN_INTEGER.test(cell) ? Number(cell) : cell;
  });
  return row;
}

function refused(message: string) {
  return invalidRequest([{ path: "csv", message }]);
}
