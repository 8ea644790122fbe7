import { DomainError } from "@wonrail/kit/contract/errors";
import {
  chargeCancellationMessage,
  paymentMessage,
  paymentRefundMessage,
  withChangedMetadata,
} from "@wonrail/kit/records";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { findChargeCancel } from "../store/charges";
import { findPaymentRefund } from "../store/paymentRefunds";
import { findPaymentByCancel } from "../store/payments";
import { type ReadDeps, readAdditions, readRecord, type RecordKey } from "./readRecord";

export async function getChargeCancellation(
  deps: ReadDeps,
  key: RecordKey,
): Promise<message.ChargeCancellation> {
  const chargeCancel = await readRecord(deps, key, {
    pick: (records) => (records.chargeCancel?.cancelId === key.id ? records.chargeCancel : undefined),
    find: findChargeCancel,
  });
  if (!chargeCancel) throw new DomainError("CHG_002");
  const { settled, changed } = await readAdditions(deps, key.orgId, [key.id]);
  return chargeCancellationMessage(withChangedMetadata({ chargeCancel }, changed).chargeCancel, settled);
}

export async function getPaymentCancellation(
  deps: ReadDeps,
  key: RecordKey,
): Promise<message.PaymentCancellation> {
  const payment = await readRecord(deps, key, {
    pick: (records) => (records.payment?.cancel?.cancelId === key.id ? records.payment : undefined),
    find: findPaymentByCancel,
  });
  if (!payment) throw new DomainError("PAY_004");
  const { settled, changed } = await readAdditions(deps, key.orgId, [key.id]);
  return paymentMessage(withChangedMetadata({ payment }, changed).payment, settled).cancellation!;
}

export async function getPaymentRefund(deps: ReadDeps, key: RecordKey): Promise<message.PaymentRefund> {
  const paymentRefund = await readRecord(deps, key, {
    pick: (records) => (records.paymentRefund?.refundId === key.id ? records.paymentRefund : undefined),
    find: findPaymentRefund,
  });
  if (!paymentRefund) throw new DomainError("PAY_004");
  const { settled, changed } = await readAdditions(deps, key.orgId, [key.id]);
  return paymentRefundMessage(withChangedMetadata({ paymentRefund }, changed).paymentRefund, settled);
}
