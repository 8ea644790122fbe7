import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { ServiceErrorCode } from "../core/errors.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import {
  checkAddress,
  checkMinimum,
  checkWon,
  type FieldProblem,
  pathSegment,
  requireFields,
  throwProblems,
} from "../internal/checks.ts";
import { findNameProblems, type KnownNames } from "../internal/names.ts";
import { pollUntil, type WaitOptions } from "../internal/pollUntil.ts";
import { NOTE_NAMES, noteProblems, type Notes, type ShownNotes } from "./notes.ts";
import { PAGE_NAMES } from "./shared.ts";

/** ATOMIC: all rows or none. BEST_EFFORT: each row by itself. */
export type PayoutMode = "ATOMIC" | "BEST_EFFORT";

/** A row of a payout request. */
export interface PayoutOrder extends Notes {
  /** Address of another wallet, or an outside address. */
  toWalletAddress: string;
  /** Amount in KRW, at least 1. */
  amount: number;
  /** Your own key of the row. A key pays once, also in several payouts. */
  idempotencyKey?: string | undefined;
}

/** Request of `payouts.create`. Give either `rows` or `csv`. */
export interface PayoutRequest {
  /** A NORMAL wallet. */
  fromWalletId: string;
  /** Default: ATOMIC. */
  mode?: PayoutMode | undefined;
  /** True: decide each row and move nothing. Without it money moves, so undefined is refused. */
  dryRun?: boolean;
  /** The transfers to make, at most 10,000. */
  rows?: PayoutOrder[] | undefined;
  /** The rows as CSV. The first record names the columns, as in `toWalletAddress,amount,reference`. */
  csv?: string | undefined;
}

/** Many transfers of one wallet, as one request. */
export interface Payout {
  /** Id of the payout. */
  payoutId: string;
  /** PENDING until each row has its outcome. REFUSED: a row of an ATOMIC payout was refused, so no money moved. */
  status: "PENDING" | "COMPLETED" | "REFUSED";
  /** Mode of the request. */
  mode: PayoutMode;
  /** True when the payout only tells what would happen. */
  dryRun: boolean;
  /** Wallet of the sender. */
  fromWalletId: string;
  /** Sum of all rows in KRW. */
  totalAmount: number;
  /** Sum of the ACCEPTED rows in KRW. */
  acceptedAmount: number;
  /** Number of rows. */
  rowCount: number;
  /** Number of ACCEPTED rows. */
  acceptedCount: number;
  /** Number of REFUSED rows. */
  refusedCount: number;
  /** Number of SKIPPED rows. */
  skippedCount: number;
  /** Time of the request. */
  createdAt: string;
  /** Time of the last outcome, or null while the payout is PENDING. */
  completedAt: string | null;
}

/** A row of a payout with its outcome. */
export interface PayoutRow extends ShownNotes {
  /** Place in the request, from 0. */
  index: number;
  /** ACCEPTED: the transfer was made, or would be in a dry run. SKIPPED: another row was refused. */
  status: "PENDING" | "ACCEPTED" | "REFUSED" | "SKIPPED";
  /** Address of the receiver. */
  toWalletAddress: string;
  /** Amount in KRW. */
  amount: number;
  /** The row's own key, or null. */
  idempotencyKey: string | null;
  /** Transfer of an ACCEPTED row, else null. */
  transferId: string | null;
  /** Reason of a REFUSED row, else null. */
  error: PayoutRowError | null;
}

/** Why a row was refused. */
export interface PayoutRowError {
  /** The code, as a transfer would answer it. */
  code: ServiceErrorCode;
  /** The cause and the remedy. */
  message: string;
  /** Data of the error, or null. */
  details: Record<string, unknown> | null;
}

/** Filters of `payouts.list`. */
export type PayoutListQuery = PageQuery & {
  /** Payouts in this state. */
  status?: Payout["status"];
  /** asc: oldest first. Default: desc, newest first. */
  order?: "asc" | "desc" | undefined;
};

/** Filters of `payouts.listRows`. */
export type PayoutRowListQuery = PageQuery & {
  /** Rows in this state. */
  status?: PayoutRow["status"];
};

const PATH = "/api/payouts";
const PAYOUT_NAMES: KnownNames<PayoutRequest> = {
  fromWalletId: true,
  mode: true,
  dryRun: "to move money",
  rows: true,
  csv: true,
};
const ROW_NAMES: KnownNames<PayoutOrder> = {
  toWalletAddress: true,
  amount: true,
  idempotencyKey: true,
  ...NOTE_NAMES,
};
const LIST_NAMES: KnownNames<PayoutListQuery> = { ...PAGE_NAMES, status: "for all states", order: true };
const ROW_LIST_NAMES: KnownNames<PayoutRowListQuery> = { ...PAGE_NAMES, status: "for all states" };

/** Transfers from one wallet to up to 10,000 addresses, as one request. */
export class PayoutsApi extends ApiResource {
  /** Stores a payout. The service posts its rows within seconds: wait for it with `waitForEnd`. */
  create(request: PayoutRequest, options?: IdempotentCallOptions): ApiPromise<Payout> {
    return this.keyedPost(() => ({ path: PATH, body: checkPayout(request) }), options);
  }

  /** Reads a payout. */
  get(payoutId: string, options?: CallOptions): ApiPromise<Payout> {
    return this.read(() => payoutPath(payoutId), options);
  }

  /** Lists payouts. */
  list(query: PayoutListQuery = {}, options?: CallOptions): PagePromise<Payout> {
    return this.pages(() => ({ path: PATH, query: requireFields("(query)", query, LIST_NAMES) }), options);
  }

  /** Lists the rows of a payout in the order of the request, with their outcomes. */
  listRows(payoutId: string, query: PayoutRowListQuery = {}, options?: CallOptions): PagePromise<PayoutRow> {
    return this.pages(
      () => ({
        path: `${payoutPath(payoutId)}/rows`,
        query: requireFields("(query)", query, ROW_LIST_NAMES),
      }),
      options,
    );
  }

  /**
   * Reads the payout until each row has its outcome. Retryable failures do not end the wait. After a
   * minute it rejects with a WaitTimeoutError that carries the last state.
   */
  waitForEnd(payoutId: string, options: WaitOptions = {}): Promise<Payout> {
    return pollUntil(
      (callOptions) => this.get(payoutId, callOptions),
      ({ status }) => status !== "PENDING",
      options,
    );
  }
}

function payoutPath(payoutId: string): string {
  return `${PATH}/${pathSegment("payoutId", payoutId, "PYO_001")}`;
}

function checkPayout(request: PayoutRequest): PayoutRequest {
  const { rows } = requireFields("(body)", request, PAYOUT_NAMES);
  if (rows === undefined) return request;
  if (!Array.isArray(rows)) throwProblems([{ path: "rows", message: "must be an array" }]);
  throwProblems(rows.flatMap((row, index) => rowProblems(row, `rows[${index}]`)));
  return request;
}

function rowProblems(row: PayoutOrder, path: string): FieldProblem[] {
  if (typeof row !== "object" || row === null) return [{ path, message: "must be an object" }];
  const { toWalletAddress, amount } = row;
  const names = findNameProblems(row, ROW_NAMES).map(({ name, message }) => ({ path: name, message }));
  const problems = [
    ...names,
    checkAddress("toWalletAddress", toWalletAddress),
    checkWon("amount", amount) ?? checkMinimum("amount", amount, 1),
    ...noteProblems(row),
  ];
  return problems.flatMap((problem) =>
    problem === undefined ? [] : [{ path: `${path}.${problem.path}`, message: problem.message }],
  );
}
