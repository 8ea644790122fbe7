import { DomainError } from "@wonrail/kit/contract/errors";
import { parseWon, won } from "@wonrail/kit/contract/money";
import { decidingMs, minus, orgAccountOf, post, receivingWalletOf, type Book } from "../../domain/book";
import type { Charge } from "../../domain/intents";
import { limitDayOf, requireWithinLimit, takeFromLimit } from "../../domain/limits";
import type { Entry, LedgerRequest } from "../../domain/types";
import { id, positive } from "../fields";
import type { IntentModule } from "../intent";

const DAILY_LIMIT = { code: "CHG_008", details: { reason: "daily_limit" } } as const;

export const charge: IntentModule<"charge"> = {
  poster: "payment",
  read: ({ walletId, amountWon, dailyLimitWon, maxChargeWon }) => ({
    kind: "charge",
    walletId: id("wal", walletId, "walletId"),
    amountWon: positive(amountWon, "amountWon"),
    dailyLimitWon: parseWon(dailyLimitWon, "dailyLimitWon"),
    maxChargeWon: parseWon(maxChargeWon, "maxChargeWon"),
  }),
  requiredState: ({ walletId }) => ({ walletIds: [walletId], orgAccounts: ["ORG_ISSUANCE"] }),
  content: ({ walletId, amountWon }) => [walletId, amountWon.toString()],
  decide: chargeWallet,
};

/** The issuance account counts a day's charges. The batch has a part of the service's limit. */
function chargeWallet(book: Book, request: LedgerRequest, intent: Charge): Entry {
  const { walletId, amountWon, dailyLimitWon, maxChargeWon } = intent;
  const wallet = receivingWalletOf(book, request.orgId, walletId);
  if (amountWon > maxChargeWon)
    throw new DomainError("CHG_008", { reason: "max_charge", maxCharge: Number(maxChargeWon) });
  const issuance = orgAccountOf(book, request.orgId, "ORG_ISSUANCE");
  const day = limitDayOf(issuance, decidingMs(book, request.orgId));
  requireWithinLimit(issuance, day, amountWon, { ...DAILY_LIMIT, limitWon: dailyLimitWon });
  if (amountWon > book.chargeRoomWon) throw new DomainError("CHG_008", { reason: "service_limit" });
  const entry = post(book, request, [
    { account: issuance, type: "CHARGE", amountWon: minus(amountWon) },
    { account: wallet, type: "CHARGE", amountWon },
  ]);
  takeFromLimit(issuance, day, amountWon);
  book.chargeRoomWon = won(book.chargeRoomWon - amountWon);
  return entry;
}
