import { assert } from "@wonrail/kit/contract/errors";
import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import { type ExecuteResponse } from "@wonrail/proto/payment/v1/payment";
import { recordsOf } from "@wonrail/kit/records";
import { pending } from "@wonrail/kit/records";
import {
  chargeCancellationMessage,
  chargeMessage,
  paymentMessage,
  paymentRefundMessage,
  refundMessage,
  transferMessage,
} from "@wonrail/kit/records";

type Answer = NonNullable<ExecuteResponse["outcome"]>;

/** The answer to the command that posted this entry: the same for every replay. */
export function answerOf(orgId: string, entry: Entry, network: string): Answer {
  const { transfer, charge, chargeCancel, refund, payment, paymentRefund } = recordsOf(orgId, entry);
  const settled = () => pending(network);
  if (transfer) return { $case: "transfer", value: transferMessage(transfer, settled) };
  if (refund) return { $case: "refund", value: refundMessage(refund, settled) };
  if (charge && chargeCancel) {
    const cancellation = chargeCancellationMessage(chargeCancel, settled);
    return { $case: "cancelledCharge", value: { charge: chargeMessage(charge, settled), cancellation } };
  }
  if (charge) return { $case: "charge", value: chargeMessage(charge, settled) };
  assert(payment, `${entry.requestId} is no entry of a command`);
  if (paymentRefund) {
    const part = paymentRefundMessage(paymentRefund, settled);
    return { $case: "refundedPayment", value: { payment: paymentMessage(payment, settled), refund: part } };
  }
  const $case = entry.kind === IntentKind.CANCEL_PAYMENT ? "cancelledPayment" : "payment";
  return { $case, value: paymentMessage(payment, settled) };
}
