import { parseWon, won } from "@wonrail/kit/contract/money";
import {
  decidingMs,
  payingWalletOf,
  record,
  requireAvailable,
  requireTransferable,
  type Book,
} from "../../domain/book";
import { holdAfter } from "../../domain/holds";
import type { PlaceHold } from "../../domain/intents";
import { limitDayOf, requireWithinLimit, takeFromLimit } from "../../domain/limits";
import { requestKey, type Entry, type Hold, type LedgerRequest } from "../../domain/types";
import { address, id, positive } from "../fields";
import type { IntentModule } from "../intent";

export const placeHold: IntentModule<"placeHold"> = {
  poster: "payment",
  read: ({ walletId, amountWon, dailyLimitWon, toAddress }) => ({
    kind: "placeHold",
    walletId: id("wal", walletId, "walletId"),
    amountWon: positive(amountWon, "amountWon"),
    dailyLimitWon: parseWon(dailyLimitWon, "dailyLimitWon"),
    toAddress: address(toAddress, "toAddress"),
  }),
  requiredState: ({ walletId }) => ({ walletIds: [walletId] }),
  content: ({ walletId, amountWon, toAddress }) => [walletId, amountWon.toString(), toAddress],
  decide: place,
};

/**
 * Holds money for an outside address. The hold is posted at finality, or voided with proof that it
 * cannot settle.
 */
function place(book: Book, request: LedgerRequest, intent: PlaceHold): Entry {
  const { walletId, amountWon, dailyLimitWon, toAddress } = intent;
  const { orgId, requestId } = request;
  const wallet = payingWalletOf(book, orgId, walletId);
  requireTransferable(wallet);
  requireAvailable(wallet, amountWon, "TRF_001");
  const limitDay = limitDayOf(wallet, decidingMs(book, orgId));
  requireWithinLimit(wallet, limitDay, amountWon, { limitWon: dailyLimitWon, code: "TRF_003" });

  takeFromLimit(wallet, limitDay, amountWon);
  wallet.heldWon = won(wallet.heldWon + amountWon);
  const hold: Hold = {
    orgId,
    requestId,
    accountNumber: wallet.number,
    accountId: wallet.id,
    amountWon,
    toAddress,
    limitDay,
    state: "open",
    sequence: wallet.sequence,
  };
  book.holds.set(requestKey(orgId, requestId), hold);
  book.changes.holds.add(hold);
  const entry = record(book, request, [wallet]);
  entry.hold = holdAfter(hold);
  return entry;
}
