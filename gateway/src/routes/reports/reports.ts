import { z } from "zod";
import { currentContext } from "@wonrail/kit/context";
import { type Clients } from "../../clients";
import { type Handler, operation } from "../operation";
import { idFilter, responseId, settlement, timestamp, won } from "../schemas";
import { walletTransaction, walletTransactionType } from "../wallets";
import { camt053Writer } from "./camt053";
import { csvStatementWriter } from "./csvStatement";
import { jsonStatementWriter } from "./jsonStatement";
import { reportQuery } from "./period";
import { readSettlements as readOperations } from "./readSettlements";
import { readStatements as readParts } from "./readStatements";
import { type Period, type ReportWriter } from "./reportWriter";
import { startReading } from "./streaming";
import { writeSettlements } from "./writeSettlements";
import { writeStatements } from "./writeStatements";

const STREAM_NOTE =
  "The answer is streamed, so its length is not limited. If reading fails, the gateway cuts the connection " +
  "before the end of the JSON or XML document. A CSV file is complete when the first cell of its last record " +
  "is END. Send the request again after a cut.";

const statement = z
  .strictObject({
    walletId: responseId("The wallet's id."),
    openingBalance: won("The balance at the start of the period, in KRW."),
    closingBalance: won("The balance at the end of the period, in KRW."),
    transactions: z.array(walletTransaction).meta({ description: "The movements, oldest first." }),
  })
  .meta({ id: "Statement", description: "The movements of one wallet in a period." });

const settledOperation = z
  .strictObject({
    operationId: responseId("The id of the charge, transfer, payment, deposit, refund or cancellation."),
    type: walletTransactionType,
    amount: won("The amount of its first movement, in KRW."),
    settlement,
    createdAt: timestamp("When it was posted."),
  })
  .meta({ id: "SettledOperation", description: "An operation and its settlement on the chain." });

export const readStatements = operation({
  id: "readStatements",
  tag: "Reports",
  summary: "Download statements of a period",
  description:
    "The statement of one wallet, or of each wallet of the organisation: the balances at both ends of the " +
    `period, and all movements between, oldest first. ${STREAM_NOTE} camt.053 is ISO 20022 camt.053.001.08. ` +
    "A CSV cell that a spreadsheet would run as a formula begins with a quote. REQ_001 is answered for a " +
    "period whose months are archived.",
  access: "full",
  query: reportQuery({
    walletId: idFilter("wal", "The wallet. Omitted: all wallets, the newest first.").optional(),
    format: z
      .enum(["json", "csv", "camt053"])
      .optional()
      .meta({ description: "The format of the answer.", default: "json" }),
  }),
  status: 200,
  streamed: ["text/csv", "application/xml"],
  data: z
    .strictObject({
      from: timestamp("The start of the period."),
      to: timestamp("The end of the period."),
      statements: z.array(statement).meta({ description: "One for each wallet." }),
    })
    .meta({ id: "Statements" }),
  errors: ["WAL_002"],
});

export const readSettlements = operation({
  id: "readSettlements",
  tag: "Reports",
  summary: "Download the settlements of a period",
  description:
    "Each operation that moved money in the period, oldest first, with its transaction hash and block. " +
    STREAM_NOTE,
  access: "full",
  query: reportQuery({
    format: z
      .enum(["json", "csv"])
      .optional()
      .meta({ description: "The format of the answer.", default: "json" }),
  }),
  status: 200,
  streamed: ["text/csv"],
  data: z
    .strictObject({
      from: timestamp("The start of the period."),
      to: timestamp("The end of the period."),
      operations: z.array(settledOperation).meta({ description: "The operations, oldest first." }),
    })
    .meta({ id: "Settlements" }),
  errors: [],
});

export function readStatementsWith(clients: Clients): Handler<typeof readStatements> {
  return async ({ query }, { principal: { orgId } }) => {
    const { walletId = null, format = "json" } = query;
    const period = periodOf(query);
    const parts = await startReading(readParts(clients, { orgId, walletId, ...period }));
    return { stream: writeStatements(writerOf(format, period), parts) };
  };
}

export function readSettlementsWith({ payment }: Clients): Handler<typeof readSettlements> {
  return async ({ query }, { principal: { orgId } }) => {
    const { format = "json" } = query;
    const period = periodOf(query);
    const pages = await startReading(readOperations(payment, { orgId, ...period }));
    return { stream: writeSettlements(format, period, pages) };
  };
}

function periodOf({ from, to }: { from: Date; to?: Date | undefined }): Period {
  const madeAt = new Date();
  return { requestId: currentContext()!.requestId, from, to: to ?? madeAt, madeAt };
}

function writerOf(format: "json" | "csv" | "camt053", period: Period): ReportWriter {
  switch (format) {
    case "json":
      return jsonStatementWriter(period);
    case "csv":
      return csvStatementWriter(period);
    case "camt053":
      return camt053Writer(period);
  }
}
