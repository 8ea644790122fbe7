import { DomainError } from "@wonrail/kit/contract/errors";
import { availableOf, openWalletOf, minus, post, type Book } from "./book";
import { limitDayOf, requireWithinLimit, takeFromLimit } from "./limits";
import type { Account, Entry, IntentOf, LedgerRequest } from "./types";

export function transfer(book: Book, request: LedgerRequest, intent: IntentOf<"transfer">): Entry {
  const { fromWalletId, toWalletId, amountWon, dailyLimitWon } = intent;
  const from = openWalletOf(book, request.orgId, fromWalletId);
  requireTransferable(from);
  const to = openWalletOf(book, request.orgId, toWalletId);
  if (from === to) {
    const message = "must not be the wallet's own address";
    throw new DomainError("TRF_002", { fields: [{ path: "toWalletAddress", message }] });
  }
  requireTransferable(to);
  if (availableOf(from) < amountWon) throw new DomainError("TRF_001", null);
  const day = limitDayOf(from, book.nowMs);
  requireWithinLimit(from, day, amountWon, dailyLimitWon);

  const entry = post(book, request, [
    { account: from, type: "TRANSFER", amountWon: minus(amountWon) },
    { account: to, type: "TRANSFER", amountWon },
  ]);
  takeFromLimit(from, day, amountWon);
  return entry;
}

export function requireTransferable(wallet: Account): void {
  if (wallet.type !== "NORMAL") throw new DomainError("TRF_004", { walletId: wallet.id });
}
