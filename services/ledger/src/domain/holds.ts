import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { won } from "@wonrail/kit/contract/money";
import {
  minus,
  orgAccountOf,
  payingWalletOf,
  post,
  record,
  requireAvailable,
  requireRoom,
  type Book,
} from "./book";
import { giveBackToLimit, limitDayOf, requireWithinLimit, takeFromLimit } from "./limits";
import { requireTransferable } from "./transfers";
import {
  requestKey,
  type Account,
  type Entry,
  type Hold,
  type HoldAfter,
  type IntentOf,
  type LedgerRequest,
} from "./types";

/** Sets money aside for a transfer to an outside address, which is posted when the chain is final or voided on proof that it never will be. */
export function placeHold(book: Book, request: LedgerRequest, intent: IntentOf<"placeHold">): Entry {
  const { walletId, amountWon, dailyLimitWon, toAddress } = intent;
  const { orgId, requestId } = request;
  const wallet = payingWalletOf(book, orgId, walletId);
  requireTransferable(wallet);
  requireAvailable(wallet, amountWon, "TRF_001");
  const limitDay = limitDayOf(wallet, book.nowMs);
  requireWithinLimit(wallet, limitDay, amountWon, { limitWon: dailyLimitWon, code: "TRF_003" });

  takeFromLimit(wallet, limitDay, amountWon);
  wallet.heldWon = won(wallet.heldWon + amountWon);
  const { number: accountNumber, id: accountId } = wallet;
  const hold: Hold = {
    orgId,
    requestId,
    accountNumber,
    accountId,
    amountWon,
    toAddress,
    limitDay,
    state: "open",
    sequence: wallet.sequence,
  };
  book.holds.set(requestKey(orgId, requestId), hold);
  book.changes.holds.add(hold);
  return withHold(record(book, request, [wallet]), hold);
}

/** Needs no open wallet: a wallet cannot be closed while it holds money. */
export function postHold(book: Book, request: LedgerRequest, intent: IntentOf<"postHold">): Entry {
  const { hold, wallet } = openHold(book, request.orgId, intent.holdRequestId);
  const external = orgAccountOf(book, request.orgId, "ORG_EXTERNAL");
  requireRoom(external.balanceWon + hold.amountWon);
  settle(book, hold, wallet, "posted");
  const entry = post(book, request, [
    { account: wallet, type: "TRANSFER", amountWon: minus(hold.amountWon) },
    { account: external, type: "TRANSFER", amountWon: hold.amountWon },
  ]);
  return endOfHold(book, entry, hold);
}

export function voidHold(book: Book, request: LedgerRequest, intent: IntentOf<"voidHold">): Entry {
  const { hold, wallet } = openHold(book, request.orgId, intent.holdRequestId);
  settle(book, hold, wallet, "voided");
  giveBackToLimit(wallet, hold.limitDay, hold.amountWon);
  return endOfHold(book, record(book, request, [wallet]), hold);
}

function endOfHold(book: Book, entry: Entry, hold: Hold): Entry {
  const placed = book.requests.get(requestKey(hold.orgId, hold.requestId))?.outcome;
  assert(placed?.status === "posted", "the entry that placed the hold was not loaded");
  entry.original = placed.entry;
  return withHold(entry, hold);
}

function withHold(entry: Entry, hold: Hold): Entry {
  entry.hold = holdAfter(hold);
  return entry;
}

/** What callers see of a hold. */
export function holdAfter(hold: Hold): HoldAfter {
  const { accountId: walletId, toAddress, amountWon, state, requestId: holdRequestId, sequence } = hold;
  return { walletId, toAddress, amountWon, state, holdRequestId, sequence };
}

function openHold(book: Book, orgId: string, holdRequestId: string): { hold: Hold; wallet: Account } {
  const hold = book.holds.get(requestKey(orgId, holdRequestId));
  if (!hold) throw new DomainError("TRF_005", null);
  if (hold.state !== "open") throw new DomainError("TX_003", { state: hold.state });
  const wallet = book.accounts.get(hold.accountId);
  assert(wallet, "the account of the hold was not loaded");
  return { hold, wallet };
}

function settle(book: Book, hold: Hold, wallet: Account, state: "posted" | "voided"): void {
  hold.state = state;
  wallet.heldWon = won(wallet.heldWon - hold.amountWon);
  book.changes.holds.add(hold);
}
