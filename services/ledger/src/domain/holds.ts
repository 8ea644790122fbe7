import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { won } from "@wonrail/kit/contract/money";
import type { Book } from "./book";
import { requestKey, type Account, type Entry, type Hold, type HoldAfter } from "./types";

/** Finds a hold that is neither posted nor voided. */
export function openHold(book: Book, orgId: string, holdRequestId: string): { hold: Hold; wallet: Account } {
  const hold = book.holds.get(requestKey(orgId, holdRequestId));
  if (!hold) throw new DomainError("TRF_005", null);
  if (hold.state !== "open") throw new DomainError("TX_003", { state: hold.state });
  const wallet = book.accounts.get(hold.accountId);
  assert(wallet, "the account of the hold was not loaded");
  return { hold, wallet };
}

export function settleHold(book: Book, hold: Hold, wallet: Account, state: "posted" | "voided"): void {
  hold.state = state;
  wallet.heldWon = won(wallet.heldWon - hold.amountWon);
  book.changes.holds.add(hold);
}

/** Adds to the entry that ends a hold: the hold as it is now, and the entry that placed it. */
export function endOfHold(book: Book, entry: Entry, hold: Hold): Entry {
  const placed = book.requests.get(requestKey(hold.orgId, hold.requestId))?.outcome;
  assert(placed?.status === "posted", "the entry that placed the hold was not loaded");
  entry.original = placed.entry;
  entry.hold = holdAfter(hold);
  return entry;
}

/** Returns the part of a hold that callers see. */
export function holdAfter(hold: Hold): HoldAfter {
  const { accountId: walletId, toAddress, amountWon, state, requestId: holdRequestId, sequence } = hold;
  return { walletId, toAddress, amountWon, state, holdRequestId, sequence };
}
