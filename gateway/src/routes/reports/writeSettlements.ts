import { type AnswerStream } from "../operation";
import { csvRecord, END_OF_CSV } from "./csvRecord";
import { jsonEnd } from "./jsonStatement";
import { type SettledOperation } from "./readSettlements";
import { type Period } from "./reportWriter";
import { inChunks } from "./streaming";

const COLUMNS = [
  ...["operationId", "createdAt", "type", "amount"],
  ...["status", "network", "txHash", "blockNumber"],
];

/** Writes operations while they are read. */
export function writeSettlements(
  format: "json" | "csv",
  period: Period,
  pages: AsyncIterable<SettledOperation[]>,
): AnswerStream {
  const isCsv = format === "csv";
  return {
    contentType: isCsv ? "text/csv; charset=utf-8" : "application/json; charset=utf-8",
    fileName: `settlements.${format}`,
    chunks: inChunks(isCsv ? writeCsv(pages) : writeJson(pages, period)),
  };
}

async function* writeCsv(pages: AsyncIterable<SettledOperation[]>): AsyncGenerator<string, void, undefined> {
  yield csvRecord(COLUMNS);
  for await (const operations of pages) yield operations.map(recordOf).join("");
  yield csvRecord([END_OF_CSV, ...COLUMNS.slice(1).map(() => null)]);
}

function recordOf({ operationId, createdAt, type, amount, settlement }: SettledOperation): string {
  const { status, network, txHash, blockNumber } = settlement;
  return csvRecord([operationId, createdAt, type, amount, status, network, txHash, blockNumber]);
}

async function* writeJson(
  pages: AsyncIterable<SettledOperation[]>,
  period: Period,
): AsyncGenerator<string, void, undefined> {
  const { from, to } = period;
  yield `{"success":true,"data":{"from":"${from.toISOString()}","to":"${to.toISOString()}","operations":[`;
  let isFirst = true;
  for await (const operations of pages)
    for (const operation of operations) {
      yield `${isFirst ? "" : ","}\n${JSON.stringify(operation)}`;
      isFirst = false;
    }
  yield jsonEnd(period);
}
