import { type NewEvent } from "@wonrail/kit/outbox";
import {
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
} from "@wonrail/proto/relayer/events/v1/events";
import { TOPIC } from "../events";
import { type Confirmation, type FailureProof, type Operation } from "./store/operations";

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
