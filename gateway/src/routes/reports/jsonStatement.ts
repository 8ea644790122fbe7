import { type Period, type ReportWriter } from "./reportWriter";

/** Writes the envelope and data of every JSON answer part by part. */
export function jsonStatementWriter(period: Period): ReportWriter {
  const bounds = `"from":"${period.from.toISOString()}","to":"${period.to.toISOString()}"`;
  return {
    contentType: "application/json; charset=utf-8",
    extension: "json",
    begin: () => `{"success":true,"data":{${bounds},"statements":[`,
    open: (statement, isFirst) =>
      `${isFirst ? "" : ","}${JSON.stringify(statement).slice(0, -1)},"transactions":[`,
    line: (line, isFirst) => `${isFirst ? "" : ","}\n${JSON.stringify(line)}`,
    close: () => "]}",
    end: () => jsonEnd(period),
  };
}

/** The end of the list, of the data and of the envelope. */
export function jsonEnd({ requestId, madeAt }: Period): string {
  return `]},"error":null,"requestId":"${requestId}","timestamp":"${madeAt.toISOString()}"}`;
}
