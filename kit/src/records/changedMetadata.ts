import { type Notes, type Payment, type Records } from "./records";

/** The metadata of an object that was changed after its command; undefined when it was not changed. */
export type ChangedMetadata = (id: string) => Record<string, string> | undefined;

/** The records with their changed metadata. A ledger entry keeps the metadata of its command. */
export function withChangedMetadata<R extends Records>(records: R, changed: ChangedMetadata): R {
  const { transfer, charge, chargeCancel, refund, payment, paymentRefund } = records;
  return {
    ...records,
    ...(transfer && { transfer: withMetadata(transfer, changed(transfer.transferId)) }),
    ...(charge && { charge: withMetadata(charge, changed(charge.chargeId)) }),
    ...(chargeCancel && { chargeCancel: withMetadata(chargeCancel, changed(chargeCancel.cancelId)) }),
    ...(refund && { refund: withMetadata(refund, changed(refund.refundId)) }),
    ...(payment && { payment: changedPayment(payment, changed) }),
    ...(paymentRefund && { paymentRefund: withMetadata(paymentRefund, changed(paymentRefund.refundId)) }),
  };
}

function changedPayment(payment: Payment, changed: ChangedMetadata): Payment {
  const { cancel } = payment;
  return {
    ...withMetadata(payment, changed(payment.paymentId)),
    cancel: cancel && withMetadata(cancel, changed(cancel.cancelId)),
  };
}

function withMetadata<N extends Notes>(notes: N, metadata: Record<string, string> | undefined): N {
  return metadata === undefined ? notes : { ...notes, metadata };
}
