import { MAX_WON, TOKEN_UNITS_PER_WON, type Won, won } from "@wonrail/kit/contract/money";

/**
 * Kind of a token transfer to one of our wallets. "ours": we ordered it, so the ledger knows it.
 * "deposit": it came from outside. "unknown": our own contract or key moved it without a known
 * order; it is never credited, so reconciliation reports it to operators.
 */
export type TransferKind = "ours" | "deposit" | "unknown";

export interface Transfer {
  fromOurs: boolean;
  fromNobody: boolean;
  /** The leg whose authorization it used, if it is ours. */
  leg: "entry" | "hold" | null;
  /**
   * For a mint: whether it belongs to an operation of our payment manager, and whether we know that
   * operation.
   */
  operation: "known" | "unknown" | null;
}

export function transferKindOf({ fromOurs, fromNobody, leg, operation }: Transfer): TransferKind {
  // A payout is outside money, also when its address belongs to a wallet.
  if (leg === "hold") return "deposit";
  if (leg === "entry") return "ours";
  if (fromOurs) return "unknown";
  if (!fromNobody || operation === null) return "deposit";
  return operation === "known" ? "ours" : "unknown";
}

export interface Booking {
  state: "SEEN" | "DUST" | "TOO_LARGE";
  amountWon: Won;
}

/** How much of a deposit the ledger can take: whole KRW. */
export function bookingOf(units: bigint): Booking {
  const amountWon = units / TOKEN_UNITS_PER_WON;
  if (amountWon === 0n) return { state: "DUST", amountWon: won(0n) };
  if (amountWon > MAX_WON) return { state: "TOO_LARGE", amountWon: won(0n) };
  return { state: "SEEN", amountWon: won(amountWon) };
}
