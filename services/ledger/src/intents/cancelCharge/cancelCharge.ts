import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { ZERO_WON, won } from "@wonrail/kit/contract/money";
import {
  accountOfPosting,
  availableOf,
  decidingMs,
  minus,
  orgAccountOf,
  post,
  requirePaying,
  type Book,
} from "../../domain/book";
import type { CancelCharge } from "../../domain/intents";
import { giveBackToLimit, seoulDay } from "../../domain/limits";
import { requestKey, type Entry, type LedgerRequest, type Posting } from "../../domain/types";
import { anyId, positive } from "../fields";
import type { IntentModule } from "../intent";

const CANCELLATION_PERIOD_MS = 30 * 24 * 3_600_000;

export const cancelCharge: IntentModule<"cancelCharge"> = {
  poster: "payment",
  read: ({ chargeRequestId, amountWon }) => ({
    kind: "cancelCharge",
    chargeRequestId: anyId(chargeRequestId, "chargeRequestId"),
    amountWon: amountWon === undefined ? null : positive(amountWon, "amountWon"),
  }),
  requiredState: ({ chargeRequestId }) => ({ orgAccounts: ["ORG_ISSUANCE"], chargeRequestId }),
  content: ({ chargeRequestId, amountWon }) => [chargeRequestId, amountWon?.toString() ?? null],
  decide: cancel,
};

/** Cancels a charge in any number of parts, never more in sum than the charge. */
function cancel(book: Book, request: LedgerRequest, intent: CancelCharge): Entry {
  const { chargeRequestId } = intent;
  const key = requestKey(request.orgId, chargeRequestId);
  const { entry, posting } = chargedPosting(book, key);
  const cancelledWon = book.cancelledCharges.get(key) ?? ZERO_WON;
  const remainingWon = won(posting.amountWon - cancelledWon);
  if (remainingWon === 0n) throw new DomainError("CHG_003", { chargeId: chargeRequestId });
  const chargedMs = decidingMs(book, request.orgId, entry.postedAtMs);
  if (decidingMs(book, request.orgId) > chargedMs + CANCELLATION_PERIOD_MS)
    throw new DomainError("CHG_004", null);
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

  giveBackToLimit(issuance, seoulDay(chargedMs), amountWon);
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

function chargedPosting(book: Book, key: string): { entry: Entry; posting: Posting } {
  const outcome = book.requests.get(key)?.outcome;
  if (outcome?.status !== "posted" || outcome.entry.kind !== "charge") throw new DomainError("CHG_002", null);
  const posting = outcome.entry.postings.find(({ amountWon }) => amountWon > 0n);
  assert(posting, "a charge has a posting into the wallet");
  return { entry: outcome.entry, posting };
}
