import { MAX_WON, TOKEN_UNITS_PER_WON, type Won, won } from "@wonrail/kit/contract/money";

/**
 * What a transfer of tokens to one of our wallets is. "ours": we ordered it, so the ledger knows it. "deposit": it came from outside.
 * "unknown": our own contract or one of our own keys moved it and we know of no order; it is never credited, so the comparison of the books
 * shows it and people look.
 */
export type TransferKind = "ours" | "deposit" | "unknown";

export interface Transfer {
  fromOurs: boolean;
  fromNobody: boolean;
  /** The leg whose authorization it used, if that is one of ours. */
  leg: "entry" | "hold" | null;
  /** Of a mint: whether it happened in an operation of our payment manager, and whether we know that one. */
  operation: "known" | "unknown" | null;
}

export function transferKindOf({ fromOurs, fromNobody, leg, operation }: Transfer): TransferKind {
  // Money that the ledger has let go to an outside address is outside money, also when the address turns out to be a wallet.
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
