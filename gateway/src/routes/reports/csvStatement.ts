import { csvRecord, END_OF_CSV } from "./csvRecord";
import { type Period, type ReportWriter, type StatementLine } from "./reportWriter";

const COLUMNS = [
  ...["walletId", "createdAt", "type", "direction", "amount", "balanceAfter", "transactionId", "relatedId"],
  ...["status", "cancelId", "counterparty", "memo", "reference"],
  ...["settlementStatus", "network", "txHash", "blockNumber"],
];

/** Writes a record for each line and for each balance. */
export function csvStatementWriter({ from, to }: Period): ReportWriter {
  return {
    contentType: "text/csv; charset=utf-8",
    extension: "csv",
    begin: () => csvRecord(COLUMNS),
    open: ({ walletId, openingBalance }) => balanceOf("OPENING_BALANCE", walletId, from, openingBalance),
    line: recordOf,
    close: ({ walletId, closingBalance }) => balanceOf("CLOSING_BALANCE", walletId, to, closingBalance),
    end: () => padded([END_OF_CSV]),
  };
}

function recordOf(line: StatementLine): string {
  const { settlement } = line;
  return csvRecord([
    ...[line.walletId, line.createdAt, line.type, line.direction, line.amount, line.balanceAfter],
    ...[line.transactionId, line.relatedId, line.status, line.cancelId, line.counterparty],
    ...[line.memo, line.reference],
    ...[settlement.status, settlement.network, settlement.txHash, settlement.blockNumber],
  ]);
}

function balanceOf(type: string, walletId: string, at: Date, balance: number): string {
  return padded([walletId, at.toISOString(), type, null, null, balance]);
}

/** A record whose last cells are empty. */
function padded(cells: (string | number | null)[]): string {
  return csvRecord(COLUMNS.map((_, index) => cells[index] ?? null));
}
