import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { ZERO_WON, won } from "@wonrail/kit/contract/money";
import {
  accountOfPosting,
  availableOf,
  minus,
  orgAccountOf,
  payingWalletOf,
  post,
  receivingWalletOf,
  requirePaying,
  type Book,
} from "./book";
import { giveBackToLimit, limitDayOf, requireWithinLimit, seoulDay, takeFromLimit } from "./limits";
import { requestKey, type Entry, type IntentOf, type LedgerRequest, type Posting } from "./types";

const CANCELLATION_PERIOD_MS = 30 * 24 * 3_600_000;

export function charge(book: Book, request: LedgerRequest, intent: IntentOf<"charge">): Entry {
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

/** In any number of parts, never more in sum than the charge. */
export function cancelCharge(book: Book, request: LedgerRequest, intent: IntentOf<"cancelCharge">): Entry {
  const { chargeRequestId } = intent;
  const key = requestKey(request.orgId, chargeRequestId);
  const { entry, posting } = chargedPosting(book, key);
  const cancelledWon = book.cancelledCharges.get(key) ?? ZERO_WON;
  const remainingWon = won(posting.amountWon - cancelledWon);
  if (remainingWon === 0n) throw new DomainError("CHG_003", { chargeId: chargeRequestId });
  if (book.nowMs > entry.postedAtMs + CANCELLATION_PERIOD_MS) throw new DomainError("CHG_004", null);
  const amountWon = intent.amountWon ?? remainingWon;
  if (amountWon > remainingWon) throw new DomainError("CHG_005", { remaining: Number(remainingWon) });

  const wallet = accountOfPosting(book, posting);
  requirePaying(wallet);
  if (availableOf(wallet) < amountWon) throw new DomainError("CHG_006", null);
  const issuance = orgAccountOf(book, request.orgId, "ORG_ISSUANCE");
  const posted = post(book, request, [
    { account: wallet, type: "CHARGE_CANCEL", amountWon: minus(amountWon) },
    { account: issuance, type: "CHARGE_CANCEL", amountWon },
  ]);

  giveBackToLimit(issuance, seoulDay(entry.postedAtMs), amountWon);
  const cancelled = won(cancelledWon + amountWon);
  book.cancelledCharges.set(key, cancelled);
  book.changes.cancelledCharges.set(key, {
    orgId: request.orgId,
    chargeRequestId,
    amountWon: posting.amountWon,
    cancelledWon: cancelled,
  });
  posted.chargeCancelled = { cancelledWon: cancelled, remainingWon: won(remainingWon - amountWon) };
  posted.original = entry;
  return posted;
}

/** Takes all that is available from a NORMAL or GOVERNMENT wallet. Incentive money belongs to the organisation. */
export function refund(book: Book, request: LedgerRequest, intent: IntentOf<"refund">): Entry {
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

function chargedPosting(book: Book, key: string): { entry: Entry; posting: Posting } {
  const outcome = book.requests.get(key)?.outcome;
  if (outcome?.status !== "posted" || outcome.entry.kind !== "charge") throw new DomainError("CHG_002", null);
  const posting = outcome.entry.postings.find(({ amountWon }) => amountWon > 0n);
  assert(posting, "a charge has a posting into the wallet");
  return { entry: outcome.entry, posting };
}
