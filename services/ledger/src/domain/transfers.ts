import { DomainError } from "@wonrail/kit/contract/errors";
import { minus, payingWalletOf, post, receivingWalletOf, requireAvailable, type Book } from "./book";
import { limitDayOf, requireWithinLimit, takeFromLimit } from "./limits";
import type { Account, Entry, IntentOf, LedgerRequest } from "./types";

export function transfer(book: Book, request: LedgerRequest, intent: IntentOf<"transfer">): Entry {
  const { fromWalletId, toWalletId, amountWon, dailyLimitWon } = intent;
  const from = payingWalletOf(book, request.orgId, fromWalletId);
  requireTransferable(from);
  const to = receivingWalletOf(book, request.orgId, toWalletId);
  if (from === to) {
    const message = "must not be the wallet's own address";
    throw new DomainError("TRF_002", { fields: [{ path: "toWalletAddress", message }] });
  }
  requireTransferable(to);
  requireAvailable(from, amountWon, "TRF_001");
  const day = limitDayOf(from, book.nowMs);
  requireWithinLimit(from, day, amountWon, { limitWon: dailyLimitWon, code: "TRF_003" });

  const entry = post(book, request, [
    { account: from, type: "TRANSFER", amountWon: minus(amountWon) },
    { account: to, type: "TRANSFER", amountWon },
  ]);
  takeFromLimit(from, day, amountWon);
  entry.toAddress = intent.toAddress;
  return entry;
}

export function requireTransferable(wallet: Account): void {
  if (wallet.type !== "NORMAL") throw new DomainError("TRF_004", { walletId: wallet.id });
}
