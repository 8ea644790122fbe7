import { DomainError } from "@wonrail/kit/contract/errors";
import { parseWon } from "@wonrail/kit/contract/money";
import {
  decidingMs,
  minus,
  payingWalletOf,
  post,
  receivingWalletOf,
  requireAvailable,
  requireTransferable,
  type Book,
} from "../../domain/book";
import type { Transfer } from "../../domain/intents";
import { limitDayOf, requireWithinLimit, takeFromLimit } from "../../domain/limits";
import type { Entry, LedgerRequest } from "../../domain/types";
import { address, id, positive } from "../fields";
import type { IntentModule } from "../intent";

export const transfer: IntentModule<"transfer"> = {
  poster: "payment",
  read: (value) => ({
    kind: "transfer",
    fromWalletId: id("wal", value.fromWalletId, "fromWalletId"),
    toWalletId: id("wal", value.toWalletId, "toWalletId"),
    toAddress: address(value.toAddress, "toAddress"),
    amountWon: positive(value.amountWon, "amountWon"),
    dailyLimitWon: parseWon(value.dailyLimitWon, "dailyLimitWon"),
  }),
  requiredState: ({ fromWalletId, toWalletId }) => ({ walletIds: [fromWalletId, toWalletId] }),
  content: ({ fromWalletId, toWalletId, amountWon, toAddress }) => [
    fromWalletId,
    toWalletId,
    amountWon.toString(),
    toAddress,
  ],
  decide: transferBetweenWallets,
};

function transferBetweenWallets(book: Book, request: LedgerRequest, intent: Transfer): Entry {
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
  const day = limitDayOf(from, decidingMs(book, request.orgId));
  requireWithinLimit(from, day, amountWon, { limitWon: dailyLimitWon, code: "TRF_003" });

  const entry = post(book, request, [
    { account: from, type: "TRANSFER", amountWon: minus(amountWon) },
    { account: to, type: "TRANSFER", amountWon },
  ]);
  takeFromLimit(from, day, amountWon);
  entry.toAddress = intent.toAddress;
  return entry;
}
