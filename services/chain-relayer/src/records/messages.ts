import { enumValue } from "@wonrail/kit/grpc/server";
import * as message from "@wonrail/proto/relayer/v1/relayer";
import { type RecordChange, type TransactionRecord } from "./domain/record";

/** Conversion of records into messages, for answers and events. */

export function recordMessage(record: TransactionRecord, history: RecordChange[]): message.Record {
  return {
    id: record.recordId,
    fields: {
      fromNetworkType: record.fromNetwork,
      toNetworkType: record.toNetwork,
      paymentType: enumValue(message.PaymentType, record.paymentType),
      fromAddress: record.fromAddress,
      toAddress: record.toAddress,
      txHash: record.txHash ?? undefined,
      amount: record.amount.toString(),
      fee: record.fee?.toString(),
      memo: record.memo ?? undefined,
      reference: record.reference ?? undefined,
      metadata: record.changedMetadata ?? record.metadata,
      scheduledAt: record.scheduledAt ?? undefined,
    },
    status: enumValue(message.RecordStatus, record.status),
    failureReason: record.failureReason ?? undefined,
    createdAt: record.createdAt,
    updatedAt: record.updatedAt,
    history: history.map(({ status, scheduledAt, reason, changedBy, changedAt }) => ({
      status: enumValue(message.RecordStatus, status),
      scheduledAt: scheduledAt ?? undefined,
      reason: reason ?? undefined,
      changedBy,
      changedAt,
    })),
  };
}
