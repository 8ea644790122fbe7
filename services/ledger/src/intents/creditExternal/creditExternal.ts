import { creditKey, minus, orgAccountOf, post, walletOf, type Book } from "../../domain/book";
import type { CreditExternal } from "../../domain/intents";
import { requestKey, type Entry, type LedgerRequest } from "../../domain/types";
import { id, positive, printable } from "../fields";
import type { IntentModule } from "../intent";

export const creditExternal: IntentModule<"creditExternal"> = {
  poster: "chain-relayer",
  read: ({ walletId, amountWon, chainLogId }) => ({
    kind: "creditExternal",
    walletId: id("wal", walletId, "walletId"),
    amountWon: positive(amountWon, "amountWon"),
    chainLogId: printable(chainLogId, "chainLogId"),
  }),
  requiredState: ({ walletId, chainLogId }) => ({
    walletIds: [walletId],
    orgAccounts: ["ORG_EXTERNAL"],
    chainLogId,
  }),
  content: ({ walletId, amountWon, chainLogId }) => [walletId, amountWon.toString(), chainLogId],
  decide: credit,
};

/** The tokens have already moved on the chain, so closed and frozen wallets are credited too. */
function credit(book: Book, request: LedgerRequest, intent: CreditExternal): Entry {
  const { orgId, requestId } = request;
  const { walletId, amountWon, chainLogId } = intent;
  const wallet = walletOf(book, orgId, walletId);
  const external = orgAccountOf(book, orgId, "ORG_EXTERNAL");
  const entry = post(book, request, [
    { account: external, type: "TRANSFER", amountWon: minus(amountWon) },
    { account: wallet, type: "TRANSFER", amountWon },
  ]);
  book.credits.set(creditKey(orgId, chainLogId), requestKey(orgId, requestId));
  book.changes.credits.push({ orgId, chainLogId, requestId });
  return entry;
}
