import { enumValue } from "@wonrail/kit/grpc/client";
import * as message from "@wonrail/proto/payment/v1/payment";
import { type PayoutRow } from "../store/payoutRows";
import { type Payout } from "../store/payouts";

export function payoutMessage(payout: Payout): message.Payout {
  const { payoutId, dryRun, fromWalletId, rowCount, createdAt } = payout;
  const { acceptedCount, refusedCount, skippedCount } = payout;
  return {
    ...{ payoutId, dryRun, fromWalletId, rowCount, acceptedCount, refusedCount, skippedCount, createdAt },
    status: enumValue(message.PayoutStatus, payout.status),
    mode: enumValue(message.PayoutMode, payout.mode),
    totalAmountWon: payout.totalWon.toString(),
    acceptedAmountWon: payout.acceptedWon.toString(),
    completedAt: payout.completedAt ?? undefined,
  };
}

export function payoutRowMessage(row: PayoutRow): message.PayoutRow {
  const { index, toWalletAddress, metadata, memo, reference, idempotencyKey, transferId, error } = row;
  return {
    index,
    status: enumValue(message.PayoutRowStatus, row.status),
    row: {
      ...{ toWalletAddress, amountWon: row.amountWon.toString(), metadata },
      memo: memo ?? undefined,
      reference: reference ?? undefined,
      idempotencyKey: idempotencyKey ?? undefined,
    },
    transferId: transferId ?? undefined,
    error: row.status === "REFUSED" ? (error ?? undefined) : undefined,
  };
}
