import { DomainError } from "@wonrail/kit/contract/errors";
import { availableOf, minus, orgAccountOf, payingWalletOf, post, type Book } from "../../domain/book";
import type { Refund } from "../../domain/intents";
import type { Entry, LedgerRequest } from "../../domain/types";
import { id } from "../fields";
import type { IntentModule } from "../intent";

export const refund: IntentModule<"refund"> = {
  poster: "payment",
  read: ({ walletId }) => ({ kind: "refund", walletId: id("wal", walletId, "walletId") }),
  requiredState: ({ walletId }) => ({ walletIds: [walletId], orgAccounts: ["ORG_ISSUANCE"] }),
  content: ({ walletId }) => [walletId],
  decide: refundWallet,
};

/**
 * Takes the available balance of a NORMAL or GOVERNMENT wallet. Incentive money belongs to the
 * organisation.
 */
function refundWallet(book: Book, request: LedgerRequest, intent: Refund): Entry {
  const wallet = payingWalletOf(book, request.orgId, intent.walletId);
  if (wallet.type === "INCENTIVE") throw new DomainError("CHG_007", { reason: "wallet_type" });
  const amountWon = availableOf(wallet);
  if (amountWon === 0n) throw new DomainError("CHG_007", { reason: "nothing_to_refund" });
  const issuance = orgAccountOf(book, request.orgId, "ORG_ISSUANCE");
  return post(book, request, [
    { account: wallet, type: "REFUND", amountWon: minus(amountWon) },
    { account: issuance, type: "REFUND", amountWon },
  ]);
}
