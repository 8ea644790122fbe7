import { type NewEvent } from "@wonrail/kit/outbox";
import { enumValue } from "@wonrail/kit/grpc/server";
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
import * as message from "@wonrail/proto/payment/v1/payment";
import { cancellableUntil, type Charge, chargeStatus } from "./domain/charge";
import { type Operation } from "./domain/operation";
import { type Payment, type PaymentCancel } from "./domain/payment";
import { type Refund } from "./domain/refund";
import { pending, type Settlement } from "./domain/settlement";
import { type Transfer } from "./domain/transfer";

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
    settlement: toSettlement(of),
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

export function toSettlement({ status, network, txHash, blockNumber }: Settlement): message.Settlement {
  return {
    status: enumValue(message.SettlementStatus, status),
    network,
    txHash: txHash ?? undefined,
    blockNumber: blockNumber ?? undefined,
  };
}

export function toTransfer(
  transfer: Transfer,
  network: string,
  settlement = pending(network),
): message.Transfer {
  const {
    transferId,
    fromWalletId,
    toWalletAddress,
    toWalletId,
    amountWon,
    memo,
    failureReason,
    createdAt,
    updatedAt,
  } = transfer;
  return {
    transferId,
    status: enumValue(message.TransferStatus, transfer.status),
    fromWalletId,
    toWalletAddress,
    toWalletId: toWalletId ?? undefined,
    amountWon: amountWon.toString(),
    memo: memo ?? undefined,
    settlement: toSettlement(settlement),
    failureReason: failureReason ?? undefined,
    createdAt,
    updatedAt,
  };
}

export function toCharge(charge: Charge, network: string, settlement = pending(network)): message.Charge {
  const { chargeId, walletId, amountWon, cancelledWon, balanceWon, memo, createdAt, updatedAt } = charge;
  return {
    chargeId,
    status: enumValue(message.ChargeStatus, chargeStatus(charge)),
    walletId,
    amountWon: amountWon.toString(),
    cancelledAmountWon: cancelledWon.toString(),
    balanceWon: balanceWon.toString(),
    cancellableUntil: cancellableUntil(charge),
    memo: memo ?? undefined,
    settlement: toSettlement(settlement),
    createdAt,
    updatedAt,
  };
}

export function toRefund(
  { refundId, walletId, amountWon, memo, createdAt }: Refund,
  network: string,
): message.Refund {
  return {
    refundId,
    walletId,
    amountWon: amountWon.toString(),
    memo: memo ?? undefined,
    settlement: toSettlement(pending(network)),
    createdAt,
  };
}

export function toPayment(payment: Payment, network: string, settlement = pending(network)): message.Payment {
  const { paymentId, payerWalletId, receiverWalletId, memo, createdAt, updatedAt } = payment;
  return {
    paymentId,
    status: enumValue(message.PaymentStatus, payment.status),
    payerWalletId,
    receiverWalletId,
    amountWon: payment.amountWon.toString(),
    breakdown: {
      governmentWon: payment.governmentWon.toString(),
      incentiveWon: payment.incentiveWon.toString(),
      normalWon: payment.normalWon.toString(),
    },
    incentiveAccruedWon: payment.accruedWon.toString(),
    memo: memo ?? undefined,
    settlement: toSettlement(settlement),
    createdAt,
    updatedAt,
  };
}

export function toCancelledPayment(
  payment: Payment,
  cancel: PaymentCancel,
  network: string,
  settlement?: Settlement,
): message.CancelledPayment {
  return {
    payment: toPayment(payment, network, settlement),
    cancelId: cancel.cancelId,
    restoredIncentiveWon: cancel.restoredIncentiveWon.toString(),
    restoredNormalWon: cancel.restoredNormalWon.toString(),
    incentiveClawedBackWon: cancel.clawedBackWon.toString(),
    keptFromNormalWon: cancel.keptWon.toString(),
  };
}
