import { parseWon, type Won } from "@wonrail/kit/contract/money";
import { minus, orgAccountOf, post, receivingWalletOf, type Book } from "../../domain/book";
import { limitDayOf, requireWithinLimit, takeFromLimit } from "../../domain/limits";
import type { Entry, LedgerRequest } from "../../domain/types";
import { id, positive } from "../fields";
import type { IntentModule } from "../intent";

export interface Charge {
  kind: "charge";
  walletId: string;
  amountWon: Won;
  /** Policy of the organisation for all its charges of one day. */
  dailyLimitWon: Won;
}

export const charge: IntentModule<"charge"> = {
  poster: "payment",
  read: ({ walletId, amountWon, dailyLimitWon }) => ({
    kind: "charge",
    walletId: id("wal", walletId, "walletId"),
    amountWon: positive(amountWon, "amountWon"),
    dailyLimitWon: parseWon(dailyLimitWon, "dailyLimitWon"),
  }),
  touches: ({ walletId }) => ({ walletIds: [walletId], orgAccounts: ["ORG_ISSUANCE"] }),
  content: ({ walletId, amountWon }) => [walletId, amountWon.toString()],
  decide: chargeWallet,
};

/** The issuance account counts the charges of one day. */
function chargeWallet(book: Book, request: LedgerRequest, intent: Charge): Entry {
  const { walletId, amountWon, dailyLimitWon } = intent;
  const wallet = receivingWalletOf(book, request.orgId, walletId);
  const issuance = orgAccountOf(book, request.orgId, "ORG_ISSUANCE");
  const day = limitDayOf(issuance, book.nowMs);
  requireWithinLimit(issuance, day, amountWon, { limitWon: dailyLimitWon, code: "CHG_008" });
  const entry = post(book, request, [
    { account: issuance, type: "CHARGE", amountWon: minus(amountWon) },
    { account: wallet, type: "CHARGE", amountWon },
  ]);
  takeFromLimit(issuance, day, amountWon);
  return entry;
}
