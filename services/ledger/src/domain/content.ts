import type { Intent, LedgerRequest, RequestNotes } from "./types";

/** Everything that makes two requests the same one, as text. Policy is left out: it may change between a request and its retry. */
export function contentOf({
  intent,
  memo,
  reference,
  metadata,
  relatedId,
}: Pick<LedgerRequest, "intent"> & RequestNotes): string {
  const pairs = Object.entries(metadata).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([intent.kind, ...partsOf(intent), memo, reference, pairs, relatedId]);
}

function partsOf(intent: Intent): (string | null)[] {
  switch (intent.kind) {
    case "openAccount":
      return [intent.walletId, intent.userId, intent.type];
    case "closeAccount":
    case "reopenAccount":
    case "refund":
      return [intent.walletId];
    case "freezeAccount":
      return [intent.walletId, intent.freeze, intent.reason];
    case "charge":
      return [intent.walletId, intent.amountWon.toString()];
    case "cancelCharge":
      return [intent.chargeRequestId, intent.amountWon?.toString() ?? null];
    case "transfer":
      return [intent.fromWalletId, intent.toWalletId, intent.amountWon.toString(), intent.toAddress];
    case "payment":
      return [
        intent.payerWalletId,
        intent.receiverWalletId,
        intent.amountWon.toString(),
        intent.incentiveAmountWon?.toString() ?? null,
      ];
    case "cancelPayment":
      return [intent.paymentRequestId];
    case "placeHold":
      return [intent.walletId, intent.amountWon.toString(), intent.toAddress];
    case "postHold":
    case "voidHold":
      return [intent.holdRequestId];
    case "creditExternal":
      return [intent.walletId, intent.amountWon.toString(), intent.chainLogId];
  }
}
