import { type NewEvent } from "@wonrail/kit/outbox";
import {
  DepositCredited,
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
  RecordChanged,
} from "@wonrail/proto/relayer/events/v1/events";
import { type RecordChange, type TransactionRecord } from "./records/domain/record";
import { recordMessage } from "./records/messages";
import { type SeenDeposit } from "./deposits/store/deposits";
import { type Confirmation, type FailureProof, type Operation } from "./settlement/store/operations";

const TOPIC = "wonrail.relayer.v1";

/** The way out: every event that this service publishes goes to this topic. */
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

export function operationSubmitted(operation: Operation, network: string, txHash: string): NewEvent {
  const { ledgerRef, relatedId } = operation;
  const payload = OperationSubmitted.encode({ ledgerRef, relatedId, network, txHash }).finish();
  return ofOperation("operation_submitted", operation, BigInt(operation.attempts + 1), payload);
}

export function operationConfirmed({ operation, ...of }: Confirmation, network: string): NewEvent {
  const { ledgerRef, relatedId } = operation;
  const payload = OperationConfirmed.encode({ ledgerRef, relatedId, network, ...of }).finish();
  return ofOperation("operation_confirmed", operation, BigInt(operation.attempts + 1), payload);
}

export function operationFailed(operation: Operation, network: string, proof: FailureProof): NewEvent {
  const { ledgerRef, relatedId } = operation;
  const payload = OperationFailed.encode({
    ledgerRef,
    relatedId,
    network,
    reason: proof.reason,
    proofBlockNumber: proof.blockNumber,
    proofBlockHash: proof.blockHash,
    proofBlockTime: proof.blockTime,
  }).finish();
  return ofOperation("operation_failed", operation, BigInt(operation.attempts + 1), payload);
}

function ofOperation(type: string, operation: Operation, version: bigint, payload: Uint8Array): NewEvent {
  const { orgId, ledgerRef, requestId, traceparent } = operation;
  return { topic: TOPIC, type, aggregateId: ledgerRef, version, orgId, payload, requestId, traceparent };
}

export function depositCredited(deposit: SeenDeposit, network: string): NewEvent {
  const { orgId, ledgerRef, amountWon } = deposit;
  const payload = DepositCredited.encode({ ...deposit, amountWon: amountWon.toString(), network }).finish();
  return { topic: TOPIC, type: "deposit_credited", aggregateId: ledgerRef, version: 1n, orgId, payload };
}

/** Carries the record as it is now, and of its history the change that this event is about. */
export function recordChanged(record: TransactionRecord, change: RecordChange): NewEvent {
  const { orgId, recordId, version, requestId, traceparent } = record;
  const payload = RecordChanged.encode({ record: recordMessage(record, [change]) }).finish();
  const of = { aggregateId: recordId, version, orgId, requestId, traceparent };
  return { topic: TOPIC, type: "record_changed", payload, ...of };
}
