import { enumValue } from "@wonrail/kit/grpc/server";
import * as message from "@wonrail/proto/payment/v1/payment";
import { cancellableUntil, type Charge, type ChargeCancel, chargeStatus } from "./domain/charge";
import { type CancelAmounts, type Payment, type PaymentCancel } from "./domain/payment";
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

export function chargeCancellationMessage(
  { cancelId, amountWon, memo, createdAt }: ChargeCancel,
  network: string,
  settlement = pending(network),
): message.ChargeCancellation {
  return {
    cancelId,
    amountWon: amountWon.toString(),
    memo: memo ?? undefined,
    settlement: settlementMessage(settlement),
    createdAt,
  };
}

export function refundMessage(
  { refundId, walletId, amountWon, memo, createdAt }: Refund,
  network: string,
  settlement = pending(network),
): message.Refund {
  return {
    refundId,
    walletId,
    amountWon: amountWon.toString(),
    memo: memo ?? undefined,
    settlement: settlementMessage(settlement),
    createdAt,
  };
}

const NONE: ReadonlyMap<string, Settlement> = new Map();

/** With its own settlement, and that of its cancellation; PENDING is what is not among them. */
export function paymentMessage(payment: Payment, network: string, settlements = NONE): message.Payment {
  const { paymentId, payerWalletId, receiverWalletId, memo, cancel, createdAt, updatedAt } = payment;
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
    settlement: settlementMessage(settlements.get(paymentId) ?? pending(network)),
    createdAt,
    updatedAt,
    cancellation:
      cancel === null
        ? undefined
        : paymentCancellationMessage(cancel, network, settlements.get(cancel.cancelId)),
  };
}

export function cancellationMessage(
  cancelId: string,
  network: string,
  settlement = pending(network),
): message.Cancellation {
  return { cancelId, settlement: settlementMessage(settlement) };
}

function paymentCancellationMessage(
  { cancelId, memo, createdAt, amounts }: PaymentCancel,
  network: string,
  settlement?: Settlement,
): message.Cancellation {
  return {
    ...cancellationMessage(cancelId, network, settlement),
    memo: memo ?? undefined,
    createdAt,
    amounts: amounts === null ? undefined : cancellationAmountsMessage(amounts),
  };
}

function cancellationAmountsMessage(amounts: CancelAmounts): message.CancellationAmounts {
  return {
    restoredIncentiveWon: amounts.restoredIncentiveWon.toString(),
    restoredNormalWon: amounts.restoredNormalWon.toString(),
    incentiveClawedBackWon: amounts.clawedBackWon.toString(),
    keptFromNormalWon: amounts.keptWon.toString(),
  };
}

export function cancelledPaymentMessage(
  payment: Payment,
  { cancelId, amounts }: PaymentCancel & { amounts: CancelAmounts },
  network: string,
  settlements: ReadonlyMap<string, Settlement>,
): message.CancelledPayment {
  return {
    payment: paymentMessage(payment, network, settlements),
    cancelId,
    ...cancellationAmountsMessage(amounts),
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
