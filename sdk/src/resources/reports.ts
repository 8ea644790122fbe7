import type { ApiPromise, CallOptions } from "../core/call.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { requireFields } from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import { type Moment, type Settlement, withTimes } from "./shared.ts";
import type { WalletTransaction, WalletTransactionType } from "./wallets.ts";

/** A past period. */
export interface ReportPeriod {
  /** Start of the period, inclusive. */
  from: Moment;
  /** End of the period, exclusive. Without it the period ends now, so undefined is refused. */
  to?: Moment;
}

/** Query of `reports.statements`. */
export interface StatementQuery extends ReportPeriod {
  /** The statement of this wallet. Without it the statements of all wallets, so undefined is refused. */
  walletId?: string;
  /** Always json. Other formats: `downloadStatements`. */
  format?: "json" | undefined;
}

/** Query of `reports.downloadStatements`. */
export interface StatementDownloadQuery extends Omit<StatementQuery, "format"> {
  /** CSV, or ISO 20022 camt.053.001.08. */
  format: "csv" | "camt053";
}

/** Query of `reports.settlements`. */
export interface SettlementQuery extends ReportPeriod {
  /** Always json. Other formats: `downloadSettlements`. */
  format?: "json" | undefined;
}

/** Query of `reports.downloadSettlements`. */
export interface SettlementDownloadQuery extends ReportPeriod {
  /** The format of the file. */
  format: "csv";
}

/** Movements of one wallet in a period. */
export interface Statement {
  /** Wallet of the statement. */
  walletId: string;
  /** Balance at the start of the period in KRW. */
  openingBalance: number;
  /** Balance at the end of the period in KRW. */
  closingBalance: number;
  /** Movements, oldest first. */
  transactions: WalletTransaction[];
}

/** Statements of a period. */
export interface Statements {
  /** Start of the period. */
  from: string;
  /** End of the period. */
  to: string;
  /** A statement for each wallet. */
  statements: Statement[];
}

/** An operation and its settlement on the chain. */
export interface SettledOperation {
  /** Id of the charge, transfer, payment, refund or cancellation. */
  operationId: string;
  /** Type of its first movement. */
  type: WalletTransactionType;
  /** Amount of its first movement in KRW. */
  amount: number;
  /** Settlement with the hash and the block of the transaction. */
  settlement: Settlement;
  /** Time of the posting. */
  createdAt: string;
}

/** Settlements of a period. */
export interface Settlements {
  /** Start of the period. */
  from: string;
  /** End of the period. */
  to: string;
  /** Operations, oldest first. */
  operations: SettledOperation[];
}

const STATEMENTS = "/api/reports/statements";
const SETTLEMENTS = "/api/reports/settlements";
const PERIOD_NAMES: KnownNames<ReportPeriod> = { from: true, to: "to end now" };
const STATEMENT_NAMES: KnownNames<StatementQuery | StatementDownloadQuery> = {
  ...PERIOD_NAMES,
  walletId: "for all wallets",
  format: true,
};
const SETTLEMENT_NAMES: KnownNames<SettlementQuery | SettlementDownloadQuery> = {
  ...PERIOD_NAMES,
  format: true,
};

/** Statements and settlements of a period. */
export class ReportsApi extends ApiResource {
  /** Reads statements into memory. For long periods use `downloadStatements`. */
  statements(query: StatementQuery, options?: CallOptions): ApiPromise<Statements> {
    return this.#report(STATEMENTS, () => requireFields("(query)", query, STATEMENT_NAMES), options);
  }

  /**
   * Reads statements as a stream of bytes. The stream fails when the connection is cut: then the file
   * is not complete. `timeoutMs` is the limit of the answer's head.
   */
  downloadStatements(
    query: StatementDownloadQuery,
    options?: CallOptions,
  ): ApiPromise<ReadableStream<Uint8Array>> {
    return this.#file(STATEMENTS, () => requireFields("(query)", query, STATEMENT_NAMES), options);
  }

  /** Reads the operations of a period with their transaction hashes and blocks into memory. */
  settlements(query: SettlementQuery, options?: CallOptions): ApiPromise<Settlements> {
    return this.#report(SETTLEMENTS, () => requireFields("(query)", query, SETTLEMENT_NAMES), options);
  }

  /**
   * Reads the operations of a period as a stream of bytes. The stream fails when the connection is
   * cut: then the file is not complete. `timeoutMs` is the limit of the answer's head.
   */
  downloadSettlements(
    query: SettlementDownloadQuery,
    options?: CallOptions,
  ): ApiPromise<ReadableStream<Uint8Array>> {
    return this.#file(SETTLEMENTS, () => requireFields("(query)", query, SETTLEMENT_NAMES), options);
  }

  #report<T>(path: string, query: () => AnyQuery, options?: CallOptions): ApiPromise<T> {
    return this.call(() => ({ method: "GET", path, query: withTimes(query()), repeat: "safe", options }));
  }

  #file(path: string, query: () => AnyQuery, options?: CallOptions): ApiPromise<ReadableStream<Uint8Array>> {
    return this.call(() => ({
      ...{ method: "GET", path, query: withTimes(query()), repeat: "safe", options },
      isFile: true,
    }));
  }
}

type AnyQuery = ReportPeriod & { walletId?: string; format?: string | undefined };
