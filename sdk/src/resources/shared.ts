/** Where the chain is with something; it changes as the chain does. */
export interface Settlement {
  status: "PENDING" | "SUBMITTED" | "CONFIRMED" | "FAILED";
  /** Such as WON_TESTNET. */
  network: string;
  txHash: string | null;
  blockNumber: number | null;
}

/** What took a payment or a charge back. */
export interface Cancellation {
  cancelId: string;
  /** Of the way back, PENDING at first; read the payment or the charge again to follow. */
  settlement: Settlement;
}

/** A moment in a request: ISO 8601 with a zone, or a Date. */
export type Moment = string | Date;

export function momentText(moment: Moment): string;
export function momentText(moment: Moment | undefined): string | undefined;
export function momentText(moment: Moment | undefined): string | undefined {
  // An invalid Date has no text; the check that follows says what is wrong with it.
  if (moment instanceof Date) return Number.isNaN(moment.getTime()) ? "" : moment.toISOString();
  return moment;
}
