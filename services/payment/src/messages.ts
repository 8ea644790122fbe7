import { enumValue } from "@wonrail/kit/grpc/server";
import * as message from "@wonrail/proto/payment/v1/payment";
import { cancellableUntil, type Charge, chargeStatus } from "./domain/charge";
import { type Payment, type PaymentCancel } from "./domain/payment";
import { type Refund } from "./domain/refund";
import { pending, type Settlement } from "./domain/settlement";
import { type Transfer } from "./domain/transfer";

/** What is done and asked for, in the contract's words: the same in answers and in events. */

export function transferMessage(
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
    settlement: settlementMessage(settlement),
    failureReason: failureReason ?? undefined,
    createdAt,
    updatedAt,
  };
}

export function chargeMessage(
  charge: Charge,
  network: string,
  settlement = pending(network),
): message.Charge {
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
    settlement: settlementMessage(settlement),
    createdAt,
    updatedAt,
  };
}

export function refundMessage(
  { refundId, walletId, amountWon, memo, createdAt }: Refund,
  network: string,
): message.Refund {
  return {
    refundId,
    walletId,
    amountWon: amountWon.toString(),
    memo: memo ?? undefined,
    settlement: settlementMessage(pending(network)),
    createdAt,
  };
}

export function paymentMessage(
  payment: Payment,
  network: string,
  settlement = pending(network),
): message.Payment {
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
    settlement: settlementMessage(settlement),
    createdAt,
    updatedAt,
  };
}

export function cancelledPaymentMessage(
  payment: Payment,
  cancel: PaymentCancel,
  network: string,
  settlement?: Settlement,
): message.CancelledPayment {
  return {
    payment: paymentMessage(payment, network, settlement),
    cancelId: cancel.cancelId,
    restoredIncentiveWon: cancel.restoredIncentiveWon.toString(),
    restoredNormalWon: cancel.restoredNormalWon.toString(),
    incentiveClawedBackWon: cancel.clawedBackWon.toString(),
    keptFromNormalWon: cancel.keptWon.toString(),
  };
}

export function settlementMessage({ status, network, txHash, blockNumber }: Settlement): message.Settlement {
  return {
    status: enumValue(message.SettlementStatus, status),
    network,
    txHash: txHash ?? undefined,
    blockNumber: blockNumber ?? undefined,
  };
}
