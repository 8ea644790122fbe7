import { type NewEvent } from "@wonrail/kit/outbox";
import {
  ChargeCancelled,
  ChargeCompleted,
  PaymentCancelled,
  PaymentCompleted,
  RefundCompleted,
  SettlementChanged,
  TransferCompleted,
  TransferFailed,
  TransferHeld,
} from "@wonrail/proto/payment/events/v1/events";
import type * as message from "@wonrail/proto/payment/v1/payment";
import { type Charge } from "./domain/charge";
import { type Operation } from "./domain/operation";
import { type Payment } from "./domain/payment";
import { type Refund } from "./domain/refund";
import { type Settlement } from "./domain/settlement";
import { type Transfer } from "./domain/transfer";
import { settlementMessage } from "./messages";

const TOPIC = "wonrail.payment.v1";

/** The way out: every event that this service publishes goes to this topic. */
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

/** Whose request an event belongs to. */
type Origin = Partial<Pick<Operation, "requestId" | "traceparent">>;

export function transferHeld(of: Transfer, transfer: message.Transfer, origin: Origin): NewEvent {
  return event("transfer_held", of, of.transferId, TransferHeld.encode({ transfer }).finish(), origin);
}

export function transferCompleted(of: Transfer, transfer: message.Transfer, origin: Origin): NewEvent {
  return event(
    "transfer_completed",
    of,
    of.transferId,
    TransferCompleted.encode({ transfer }).finish(),
    origin,
  );
}

export function transferFailed(of: Transfer, transfer: message.Transfer, origin: Origin): NewEvent {
  return event("transfer_failed", of, of.transferId, TransferFailed.encode({ transfer }).finish(), origin);
}

export function chargeCompleted(of: Charge, charge: message.Charge, origin: Origin): NewEvent {
  return event("charge_completed", of, of.chargeId, ChargeCompleted.encode({ charge }).finish(), origin);
}

export function chargeCancelled(of: Charge, cancelled: ChargeCancelled, origin: Origin): NewEvent {
  return event("charge_cancelled", of, of.chargeId, ChargeCancelled.encode(cancelled).finish(), origin);
}

export function refundCompleted(of: Refund, refund: message.Refund, origin: Origin): NewEvent {
  return event(
    "refund_completed",
    { ...of, version: 1n },
    of.refundId,
    RefundCompleted.encode({ refund }).finish(),
    origin,
  );
}

export function paymentCompleted(of: Payment, payment: message.Payment, origin: Origin): NewEvent {
  return event("payment_completed", of, of.paymentId, PaymentCompleted.encode({ payment }).finish(), origin);
}

export function paymentCancelled(of: Payment, cancelled: message.CancelledPayment, origin: Origin): NewEvent {
  return event(
    "payment_cancelled",
    of,
    of.paymentId,
    PaymentCancelled.encode({ cancelled }).finish(),
    origin,
  );
}

/** Settlement has no version of its own: it goes forward only, and the last word is the one that is CONFIRMED or FAILED. */
export function settlementChanged(
  of: Settlement & { orgId: string; ledgerRef: string },
  origin: Origin,
): NewEvent {
  const payload = SettlementChanged.encode({
    relatedId: of.ledgerRef,
    settlement: settlementMessage(of),
  }).finish();
  return event("settlement_changed", { orgId: of.orgId, version: 0n }, of.ledgerRef, payload, origin);
}

function event(
  type: string,
  { orgId, version }: { orgId: string; version: bigint },
  aggregateId: string,
  payload: Uint8Array,
  { requestId, traceparent }: Origin,
): NewEvent {
  return {
    topic: TOPIC,
    type,
    aggregateId,
    version,
    orgId,
    payload,
    ...(requestId === undefined ? {} : { requestId }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}
