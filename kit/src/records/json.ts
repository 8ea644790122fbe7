import { enumName } from "../grpc/enums";
import { fromErrorDetail } from "../grpc/wireErrors";
import { assert, errorTable } from "../contract/errors";
import { type Scope } from "../contract/scopes";
import { parseWon, wonToJson } from "../contract/money";
import { type Notes } from "../contract/notes";
import {
  type Charge,
  type ChargeCancellation,
  ChargeStatus,
  type Payment,
  type PaymentCancellation,
  type PaymentRefund,
  PaymentStatus,
  type Payout,
  PayoutMode,
  type PayoutRow,
  PayoutRowStatus,
  PayoutStatus,
  type Refund,
  type Settlement,
  SettlementStatus,
  type Transfer,
  TransferStatus,
} from "@wonrail/proto/payment/v1/payment";
import {
  PaymentType,
  type Record as RecordedTransaction,
  type RecordChange,
  RecordStatus,
} from "@wonrail/proto/relayer/v1/relayer";
import { type Wallet, WalletStatus, WalletType } from "@wonrail/proto/wallet/v1/wallet";

// How messages of services become the JSON that partners read: in answers and in public events.

/** A field that a service always sends. Its absence is a mistake in the code. */
export function requirePresent<T>(value: T | undefined): T {
  assert(value !== undefined, "the service's answer is complete");
  return value;
}

export function isoTime(moment: Date | undefined): string {
  return requirePresent(moment).toISOString();
}

export function wonJson(amountWon: string): number {
  return wonToJson(parseWon(amountWon, "amount_won"));
}

/** An API key without its secret part and without its last use, which changes with each request. */
export function apiKeyJson<S extends string>(key: {
  keyId: string;
  prefix: string;
  name: string;
  scopes: string[];
  allowedAddresses: string[];
  apiVersion: string;
  status: S;
  predecessorKeyId?: string | undefined;
  issuedAt?: Date | undefined;
  expiresAt?: Date | undefined;
  overlapEndsAt?: Date | undefined;
  revokedAt?: Date | undefined;
}) {
  return {
    keyId: key.keyId,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes as Scope[],
    allowedAddresses: key.allowedAddresses,
    apiVersion: key.apiVersion,
    status: key.status,
    predecessorId: key.predecessorKeyId ?? null,
    issuedAt: isoTime(key.issuedAt),
    expiresAt: isoTime(key.expiresAt),
    overlapEndsAt: key.overlapEndsAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  };
}

function notesJson({ memo, reference, metadata }: Notes) {
  return { memo: memo ?? null, reference: reference ?? null, metadata };
}

export function settlementJson(settlement: Settlement | undefined) {
  const { status, network, txHash, blockNumber } = requirePresent(settlement);
  return {
    status: requirePresent(enumName(SettlementStatus, status)),
    network,
    txHash: txHash ?? null,
    blockNumber: blockNumber === undefined ? null : Number(blockNumber),
  };
}

export function transferJson(of: Transfer) {
  return {
    transferId: of.transferId,
    status: requirePresent(enumName(TransferStatus, of.status)),
    fromWalletId: of.fromWalletId,
    toWalletAddress: of.toWalletAddress,
    toWalletId: of.toWalletId ?? null,
    amount: wonJson(of.amountWon),
    ...notesJson(of),
    settlement: settlementJson(of.settlement),
    failureReason: of.failureReason ?? null,
    createdAt: isoTime(of.createdAt),
  };
}

export function payoutJson(of: Payout) {
  return {
    payoutId: of.payoutId,
    status: requirePresent(enumName(PayoutStatus, of.status)),
    mode: requirePresent(enumName(PayoutMode, of.mode)),
    dryRun: of.dryRun,
    fromWalletId: of.fromWalletId,
    totalAmount: wonJson(of.totalAmountWon),
    acceptedAmount: wonJson(of.acceptedAmountWon),
    rowCount: of.rowCount,
    acceptedCount: of.acceptedCount,
    refusedCount: of.refusedCount,
    skippedCount: of.skippedCount,
    createdAt: isoTime(of.createdAt),
    completedAt: of.completedAt?.toISOString() ?? null,
  };
}

export function payoutRowJson({ index, status, row, transferId, error }: PayoutRow) {
  const { toWalletAddress, amountWon, idempotencyKey, ...notes } = requirePresent(row);
  const refusal = error && fromErrorDetail(error);
  return {
    index,
    status: requirePresent(enumName(PayoutRowStatus, status)),
    toWalletAddress,
    amount: wonJson(amountWon),
    ...notesJson(notes),
    idempotencyKey: idempotencyKey ?? null,
    transferId: transferId ?? null,
    error: refusal
      ? { code: refusal.code, message: errorTable[refusal.code].message, details: refusal.details }
      : null,
  };
}

export function chargeJson(of: Charge) {
  return {
    chargeId: of.chargeId,
    status: requirePresent(enumName(ChargeStatus, of.status)),
    walletId: of.walletId,
    amount: wonJson(of.amountWon),
    cancelledAmount: wonJson(of.cancelledAmountWon),
    balance: wonJson(of.balanceWon),
    cancellableUntil: isoTime(of.cancellableUntil),
    ...notesJson(of),
    settlement: settlementJson(of.settlement),
    createdAt: isoTime(of.createdAt),
  };
}

export function chargeCancellationJson(of: ChargeCancellation) {
  return {
    cancelId: of.cancelId,
    settlement: settlementJson(of.settlement),
    amount: wonJson(of.amountWon),
    ...notesJson(of),
    createdAt: isoTime(of.createdAt),
  };
}

export function refundJson(of: Refund) {
  return {
    refundId: of.refundId,
    walletId: of.walletId,
    amount: wonJson(of.amountWon),
    ...notesJson(of),
    settlement: settlementJson(of.settlement),
    createdAt: isoTime(of.createdAt),
  };
}

export function paymentJson(of: Payment) {
  const breakdown = requirePresent(of.breakdown);
  return {
    paymentId: of.paymentId,
    status: requirePresent(enumName(PaymentStatus, of.status)),
    payerWalletId: of.payerWalletId,
    receiverWalletId: of.receiverWalletId,
    amount: wonJson(of.amountWon),
    breakdown: {
      government: wonJson(breakdown.governmentWon),
      incentive: wonJson(breakdown.incentiveWon),
      normal: wonJson(breakdown.normalWon),
    },
    incentiveAccrued: wonJson(of.incentiveAccruedWon),
    refundedAmount: wonJson(of.refundedAmountWon),
    ...notesJson(of),
    settlement: settlementJson(of.settlement),
    cancellation: of.cancellation === undefined ? null : paymentCancellationJson(of.cancellation),
    createdAt: isoTime(of.createdAt),
  };
}

export function paymentCancellationJson(of: PaymentCancellation) {
  return {
    cancelId: of.cancelId,
    settlement: settlementJson(of.settlement),
    ...restoredJson(of),
    ...notesJson(of),
    createdAt: isoTime(of.createdAt),
  };
}

export function paymentRefundJson(of: PaymentRefund) {
  return {
    refundId: of.refundId,
    amount: wonJson(of.amountWon),
    ...restoredJson(of),
    ...notesJson(of),
    settlement: settlementJson(of.settlement),
    createdAt: isoTime(of.createdAt),
  };
}

/** The amounts that the cancellation or a refund of a payment gave back. */
export function restoredJson(amounts: PaymentCancellation | PaymentRefund) {
  return {
    restored: {
      incentive: wonJson(amounts.restoredIncentiveWon),
      normal: wonJson(amounts.restoredNormalWon),
    },
    incentiveClawedBack: wonJson(amounts.incentiveClawedBackWon),
    keptFromNormal: wonJson(amounts.keptFromNormalWon),
  };
}

export function walletJson(message: Wallet | undefined) {
  const of = requirePresent(message);
  return {
    walletId: of.walletId,
    userId: of.userId,
    walletType: requirePresent(enumName(WalletType, of.walletType)),
    walletAddress: of.walletAddress,
    balance: wonJson(of.balanceWon),
    availableBalance: wonJson(of.availableBalanceWon),
    status: requirePresent(enumName(WalletStatus, of.status)),
    metadata: of.metadata,
    createdAt: isoTime(of.createdAt),
    updatedAt: isoTime(of.updatedAt),
  };
}

/** A record of the transaction recording API, without its history. */
export function recordedTransactionJson(message: RecordedTransaction) {
  const { id, fields, status, failureReason, createdAt, updatedAt } = message;
  const of = requirePresent(fields);
  return {
    id,
    fromNetworkType: of.fromNetworkType,
    toNetworkType: of.toNetworkType,
    paymentType: requirePresent(enumName(PaymentType, of.paymentType)),
    fromAddress: of.fromAddress,
    toAddress: of.toAddress,
    txHash: of.txHash ?? null,
    amount: of.amount,
    fee: of.fee ?? null,
    ...notesJson(of),
    scheduledAt: of.scheduledAt?.toISOString() ?? null,
    status: requirePresent(enumName(RecordStatus, status)),
    failureReason: failureReason ?? null,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  };
}

const CHANGED_BY = { api: "API", chain: "CHAIN", scheduler: "SCHEDULER" } as const;

export function transactionChangeJson({ status, scheduledAt, reason, changedBy, changedAt }: RecordChange) {
  return {
    status: requirePresent(enumName(RecordStatus, status)),
    scheduledAt: scheduledAt?.toISOString() ?? null,
    reason: reason ?? null,
    changedBy: requirePresent(CHANGED_BY[changedBy as keyof typeof CHANGED_BY]),
    changedAt: isoTime(changedAt),
  };
}
