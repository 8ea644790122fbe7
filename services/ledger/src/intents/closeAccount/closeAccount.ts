import { DomainError } from "@wonrail/kit/contract/errors";
import { openWalletOf, record, type Book } from "../../domain/book";
import type { CloseAccount } from "../../domain/intents";
import type { Entry, LedgerRequest } from "../../domain/types";
import { id } from "../fields";
import type { IntentModule } from "../intent";

export const closeAccount: IntentModule<"closeAccount"> = {
  poster: "wallet",
  read: ({ walletId }) => ({ kind: "closeAccount", walletId: id("wal", walletId, "walletId") }),
  requiredState: ({ walletId }) => ({ walletIds: [walletId] }),
  content: ({ walletId }) => [walletId],
  decide: close,
};

function close(book: Book, request: LedgerRequest, intent: CloseAccount): Entry {
  const account = openWalletOf(book, request.orgId, intent.walletId);
  if (account.balanceWon !== 0n || account.heldWon !== 0n) {
    throw new DomainError("WAL_003", { walletId: account.id });
  }
  account.closedAtMs = book.nowMs;
  return record(book, request, [account]);
}
