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
