import { enumValue } from "../grpc/enums";
import * as message from "@wonrail/proto/payment/v1/payment";
import { cancellableUntil, chargeStatus } from "./charge";
import { paymentStatus } from "./payment";
import { checksummed } from "../contract/address";
import {
  type Charge,
  type ChargeCancel,
  type Notes,
  type Payment,
  type PaymentCancel,
  type PaymentRefund,
  type Refund,
  type Transfer,
} from "./records";
import { type Settlement } from "./settlement";

// Converts records into messages. `settled` returns the settlement of an id.

export type Settled = (id: string) => Settlement;

export function transferMessage(transfer: Transfer, settled: Settled): message.Transfer {
  const settlement = settled(transfer.transferId);
  return {
    transferId: transfer.transferId,
    status: enumValue(message.TransferStatus, transfer.status),
    fromWalletId: transfer.fromWalletId,
    toWalletAddress: checksummed(transfer.toWalletAddress),
    toWalletId: transfer.toWalletId ?? undefined,
    amountWon: transfer.amountWon.toString(),
    ...notesMessage(transfer),
    settlement: settlementMessage(settlement),
    failureReason: transfer.status === "FAILED" ? (settlement.failureReason ?? undefined) : undefined,
    createdAt: transfer.createdAt,
  };
}

export function chargeMessage(charge: Charge, settled: Settled): message.Charge {
  return {
    chargeId: charge.chargeId,
    status: enumValue(message.ChargeStatus, chargeStatus(charge)),
    walletId: charge.walletId,
    amountWon: charge.amountWon.toString(),
    cancelledAmountWon: charge.cancelledWon.toString(),
    balanceWon: charge.balanceWon.toString(),
    cancellableUntil: cancellableUntil(charge),
    ...notesMessage(charge),
    settlement: settlementMessage(settled(charge.chargeId)),
    createdAt: charge.createdAt,
  };
}

export function chargeCancellationMessage(
  cancel: ChargeCancel,
  settled: Settled,
): message.ChargeCancellation {
  return {
    cancelId: cancel.cancelId,
    amountWon: cancel.amountWon.toString(),
    ...notesMessage(cancel),
    settlement: settlementMessage(settled(cancel.cancelId)),
    createdAt: cancel.createdAt,
  };
}

export function refundMessage(refund: Refund, settled: Settled): message.Refund {
  return {
    refundId: refund.refundId,
    walletId: refund.walletId,
    amountWon: refund.amountWon.toString(),
    ...notesMessage(refund),
    settlement: settlementMessage(settled(refund.refundId)),
    createdAt: refund.createdAt,
  };
}

export function paymentMessage(payment: Payment, settled: Settled): message.Payment {
  return {
    paymentId: payment.paymentId,
    status: enumValue(message.PaymentStatus, paymentStatus(payment)),
    payerWalletId: payment.payerWalletId,
    receiverWalletId: payment.receiverWalletId,
    amountWon: payment.amountWon.toString(),
    breakdown: {
      governmentWon: payment.governmentWon.toString(),
      incentiveWon: payment.incentiveWon.toString(),
      normalWon: payment.normalWon.toString(),
    },
    incentiveAccruedWon: payment.accruedWon.toString(),
    refundedAmountWon: payment.refundedWon.toString(),
    ...notesMessage(payment),
    settlement: settlementMessage(settled(payment.paymentId)),
    createdAt: payment.createdAt,
    cancellation: payment.cancel === null ? undefined : paymentCancellationMessage(payment.cancel, settled),
  };
}

function paymentCancellationMessage(cancel: PaymentCancel, settled: Settled): message.PaymentCancellation {
  return {
    cancelId: cancel.cancelId,
    ...restoredMessage(cancel),
    ...notesMessage(cancel),
    settlement: settlementMessage(settled(cancel.cancelId)),
    createdAt: cancel.createdAt,
  };
}

export function paymentRefundMessage(refund: PaymentRefund, settled: Settled): message.PaymentRefund {
  return {
    refundId: refund.refundId,
    amountWon: refund.amountWon.toString(),
    ...restoredMessage(refund),
    ...notesMessage(refund),
    settlement: settlementMessage(settled(refund.refundId)),
    createdAt: refund.createdAt,
  };
}

function restoredMessage(of: PaymentCancel | PaymentRefund) {
  return {
    restoredIncentiveWon: of.restoredIncentiveWon.toString(),
    restoredNormalWon: of.restoredNormalWon.toString(),
    incentiveClawedBackWon: of.clawedBackWon.toString(),
    keptFromNormalWon: of.keptWon.toString(),
  };
}

function notesMessage({ memo, reference, metadata }: Notes) {
  return { memo: memo ?? undefined, reference: reference ?? undefined, metadata };
}

export function settlementMessage({ status, network, txHash, blockNumber }: Settlement): message.Settlement {
  return {
    status: enumValue(message.SettlementStatus, status),
    network,
    txHash: txHash ?? undefined,
    blockNumber: blockNumber ?? undefined,
  };
}
