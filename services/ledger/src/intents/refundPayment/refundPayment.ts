import { DomainError } from "@wonrail/kit/contract/errors";
import { ZERO_WON, won } from "@wonrail/kit/contract/money";
import type { Book } from "../../domain/book";
import type { RefundPayment } from "../../domain/intents";
import { returnPart, uncancelledPayment } from "../../domain/paymentMoves";
import { paymentMade } from "../../domain/results";
import { requestKey, type Entry, type LedgerRequest } from "../../domain/types";
import { anyId, positive } from "../fields";
import type { IntentModule } from "../intent";
import { partOfPayment } from "./partOfPayment";

export const refundPayment: IntentModule<"refundPayment"> = {
  poster: "payment",
  read: ({ paymentRequestId, amountWon }) => ({
    kind: "refundPayment",
    paymentRequestId: anyId(paymentRequestId, "paymentRequestId"),
    amountWon: positive(amountWon, "amountWon"),
  }),
  requiredState: ({ paymentRequestId }) => ({ orgAccounts: ["ORG_INCENTIVE"], paymentRequestId }),
  content: ({ paymentRequestId, amountWon }) => [paymentRequestId, amountWon.toString()],
  decide: refund,
};

/** Returns a part of a payment to the paying wallets, never more in sum than the payment. */
function refund(book: Book, request: LedgerRequest, { paymentRequestId, amountWon }: RefundPayment): Entry {
  const payment = uncancelledPayment(book, request.orgId, paymentRequestId);
  const key = requestKey(request.orgId, paymentRequestId);
  const made = paymentMade(payment.postings);
  const paidWon = won(made.governmentWon + made.incentiveWon + made.normalWon);
  const beforeWon = book.refundedPayments.get(key) ?? ZERO_WON;
  const remainingWon = won(paidWon - beforeWon);
  if (amountWon > remainingWon) throw new DomainError("PAY_009", { remaining: Number(remainingWon) });
  const entry = returnPart(book, request, payment, partOfPayment(made, beforeWon, amountWon));
  const refundedWon = won(beforeWon + amountWon);
  book.refundedPayments.set(key, refundedWon);
  book.changes.refundedPayments.set(key, {
    orgId: request.orgId,
    paymentRequestId,
    amountWon: paidWon,
    refundedWon,
  });
  entry.paymentRefunded = { refundedWon, remainingWon: won(remainingWon - amountWon) };
  return entry;
}
