import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import type * as message from "@wonrail/proto/payment/v1/payment";
import {
  type Payment,
  paymentMessage,
  type PaymentRefund,
  paymentRefundMessage,
  settledIdsOf,
  withChangedMetadata,
} from "@wonrail/kit/records";
import { listPaymentRefunds } from "../store/paymentRefunds";
import { findPayment } from "../store/payments";
import { type ReadDeps, readAdditions, readRecord, type RecordKey } from "./readRecord";

interface RefundedPayment {
  payment: Payment;
  refunds: PaymentRefund[];
}

/** The payment and its newest refunds, oldest first. */
export async function getPayment(
  deps: ReadDeps,
  key: RecordKey,
): Promise<{ payment: message.Payment; refunds: message.PaymentRefund[] }> {
  const found = await readRecord<RefundedPayment>(deps, key, {
    pick: ({ payment, paymentRefunds: refunds }) =>
      payment?.paymentId === key.id ? { payment, refunds } : undefined,
    find: findRefundedPayment,
  });
  if (!found) throw new DomainError("PAY_004");
  const ids = [...settledIdsOf(found.payment), ...found.refunds.map(({ refundId }) => refundId)];
  const { settled, changed } = await readAdditions(deps, key.orgId, ids);
  return {
    payment: paymentMessage(withChangedMetadata({ payment: found.payment }, changed).payment, settled),
    refunds: found.refunds
      .map((paymentRefund) => withChangedMetadata({ paymentRefund }, changed).paymentRefund)
      .map((refund) => paymentRefundMessage(refund, settled)),
  };
}

/** Reads one snapshot, so that the refunds add up to the payment's refunded amount. */
function findRefundedPayment(db: Database, orgId: string, id: string): Promise<RefundedPayment | undefined> {
  return tx(
    db,
    async (tx) => {
      const [payment, refunds] = await Promise.all([
        findPayment(tx, orgId, id),
        listPaymentRefunds(tx, orgId, id),
      ]);
      return payment && { payment, refunds };
    },
    { isolation: "repeatable read", readOnly: true },
  );
}
