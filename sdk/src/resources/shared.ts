import type { PageQuery } from "../core/page.ts";
import type { KnownNames } from "../internal/names.ts";

/** Settlement of an operation on the chain. */
export interface Settlement {
  /** PENDING: not sent. SUBMITTED: sent. CONFIRMED or FAILED: final on the chain. */
  status: "PENDING" | "SUBMITTED" | "CONFIRMED" | "FAILED";
  /** Network of the settlement, such as WON_TESTNET. */
  network: string;
  /** Hash of the transaction, or null before it is sent. */
  txHash: string | null;
  /** Block of the transaction, or null before it is final. */
  blockNumber: number | null;
}

/** Cancellation of a payment or a charge. */
export interface Cancellation {
  /** Id of the cancellation. */
  cancelId: string;
  /** Settlement of the cancellation. Read the payment or the charge again to follow it. */
  settlement: Settlement;
}

/** A time in a request: an ISO 8601 date-time with a zone, or a Date. */
export type Moment = string | Date;

/** Converts a Date to ISO 8601. An invalid Date becomes "", which the next check refuses. */
export function toIsoString(moment: Moment): string;
export function toIsoString(moment: Moment | undefined): string | undefined;
export function toIsoString(moment: Moment | undefined): string | undefined {
  if (moment instanceof Date) return Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
  return moment;
}

/** Names that every list accepts. */
export const PAGE_NAMES: KnownNames<PageQuery> = { limit: true, currentPage: true, cursor: true };

/** Filters that every list of money has. An undefined filter is refused, because it would list more. */
export interface MoneyFilters {
  /** Objects with exactly this reference. */
  reference?: string;
  /** Objects with this settlement status. */
  settlementStatus?: Settlement["status"];
  /** Start of the period, inclusive. */
  from?: Moment;
  /** End of the period, exclusive. */
  to?: Moment;
  /** Amounts of at least this many KRW. */
  minAmount?: number;
  /** Amounts of at most this many KRW. */
  maxAmount?: number;
  /** asc: oldest first. Default: desc, newest first. */
  order?: "asc" | "desc" | undefined;
}

/** Names of the filters that every list of money has. */
export const MONEY_NAMES: KnownNames<MoneyFilters> = {
  reference: "for all references",
  settlementStatus: "for all settlement states",
  from: "to start at the oldest",
  to: "to end at the newest",
  minAmount: "for all amounts",
  maxAmount: "for all amounts",
  order: true,
};

/** A query whose times are strings. The distribution over unions keeps `cursor` and `currentPage` apart. */
type WithTimes<Q> = Q extends unknown
  ? Omit<Q, "from" | "to"> & { from: string | undefined; to: string | undefined }
  : never;

/** A query with its times as the service reads them. */
export function withTimes<Q extends { from?: Moment; to?: Moment }>(query: Q): WithTimes<Q> {
  const { from, to, ...rest } = query;
  return { ...rest, from: toIsoString(from), to: toIsoString(to) } as WithTimes<Q>;
}
