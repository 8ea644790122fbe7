import { type transactionJson } from "../wallets";

export type StatementLine = ReturnType<typeof transactionJson>;

/** The period of a report, and the request that asked for it. */
export interface Period {
  requestId: string;
  from: Date;
  to: Date;
  madeAt: Date;
}

export interface Statement {
  walletId: string;
  openingBalance: number;
  closingBalance: number;
}

/** Writes statements part by part, so that a report is never in memory as a whole. */
export interface ReportWriter {
  contentType: string;
  extension: string;
  begin(): string;
  open(statement: Statement, isFirst: boolean): string;
  line(line: StatementLine, isFirst: boolean): string;
  close(statement: Statement): string;
  end(): string;
}
