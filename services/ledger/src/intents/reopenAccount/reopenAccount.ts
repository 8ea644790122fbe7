import { record, walletOf, type Book } from "../../domain/book";
import type { ReopenAccount } from "../../domain/intents";
import type { Entry, LedgerRequest } from "../../domain/types";
import { id } from "../fields";
import type { IntentModule } from "../intent";

export const reopenAccount: IntentModule<"reopenAccount"> = {
  poster: "wallet",
  read: ({ walletId }) => ({ kind: "reopenAccount", walletId: id("wal", walletId, "walletId") }),
  requiredState: ({ walletId }) => ({ walletIds: [walletId] }),
  content: ({ walletId }) => [walletId],
  decide: reopen,
};

/** Allows deposits of a closed wallet to leave it. An open wallet stays unchanged. */
function reopen(book: Book, request: LedgerRequest, intent: ReopenAccount): Entry {
  const account = walletOf(book, request.orgId, intent.walletId);
  account.closedAtMs = null;
  return record(book, request, [account]);
}
