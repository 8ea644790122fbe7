import { DomainError } from "@wonrail/kit/contract/errors";
import type { Book } from "../../domain/book";
import type { CancelPayment } from "../../domain/intents";
import { returnPart, uncancelledPayment } from "../../domain/paymentMoves";
import { paymentMade } from "../../domain/results";
import { requestKey, type Entry, type LedgerRequest } from "../../domain/types";
import { anyId } from "../fields";
import type { IntentModule } from "../intent";

export const cancelPayment: IntentModule<"cancelPayment"> = {
  poster: "payment",
  read: ({ paymentRequestId }) => ({
    kind: "cancelPayment",
    paymentRequestId: anyId(paymentRequestId, "paymentRequestId"),
  }),
  requiredState: ({ paymentRequestId }) => ({ orgAccounts: ["ORG_INCENTIVE"], paymentRequestId }),
  content: ({ paymentRequestId }) => [paymentRequestId],
  decide: cancel,
};

/** Returns a payment to the paying wallets, completely and once. */
function cancel(book: Book, request: LedgerRequest, { paymentRequestId }: CancelPayment): Entry {
  const payment = uncancelledPayment(book, request.orgId, paymentRequestId);
  const key = requestKey(request.orgId, paymentRequestId);
  if (book.refundedPayments.has(key)) throw new DomainError("PAY_008", { paymentId: paymentRequestId });
  const entry = returnPart(book, request, payment, paymentMade(payment.postings));
  const { orgId, requestId: cancelRequestId } = request;
  book.cancelledPayments.add(key);
  book.changes.cancelledPayments.push({ orgId, paymentRequestId, cancelRequestId });
  return entry;
}
