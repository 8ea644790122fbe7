import { type NewEvent } from "@wonrail/kit/outbox";
import {
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
  WalletBlockChanged,
} from "@wonrail/proto/relayer/events/v1/events";
import { TOPIC } from "../events";
import { type WalletBlock } from "./store/walletBlocks";
import { type Change, type Confirmed, type FailureProof, type Operation } from "./store/operations";

export function operationSubmitted(
  operation: Operation,
  of: { network: string; txHash: string; changedAt: Date },
): NewEvent {
  const { ledgerRef, relatedId } = operation;
  const payload = OperationSubmitted.encode({ ledgerRef, relatedId, ...of }).finish();
  return ofOperation("operation_submitted", operation, BigInt(operation.attempts + 1), payload);
}

export function operationConfirmed({ operation, version, ...of }: Confirmed, network: string): NewEvent {
  const { ledgerRef, relatedId } = operation;
  const payload = OperationConfirmed.encode({ ledgerRef, relatedId, network, ...of }).finish();
  return ofOperation("operation_confirmed", operation, version, payload);
}

export function operationFailed(
  operation: Operation,
  network: string,
  { version, changedAt, ...proof }: FailureProof & Change,
): NewEvent {
  const { ledgerRef, relatedId } = operation;
  const payload = OperationFailed.encode({
    ledgerRef,
    relatedId,
    network,
    reason: proof.reason,
    proofBlockNumber: proof.blockNumber,
    proofBlockHash: proof.blockHash,
    proofBlockTime: proof.blockTime,
    changedAt,
  }).finish();
  return ofOperation("operation_failed", operation, version, payload);
}

/** Logs of a block count up from 0, and a block has far fewer of them than this. */
const LOGS_PER_BLOCK = 1_000_000n;

export function walletBlockChanged(block: WalletBlock): NewEvent {
  const { orgId, walletId, address: walletAddress, blocked, blockNumber } = block;
  const fields = { orgId, walletId, walletAddress, blocked, blockNumber };
  const payload = WalletBlockChanged.encode(fields).finish();
  const version = blockNumber * LOGS_PER_BLOCK + BigInt(block.logIndex);
  return { topic: TOPIC, type: "wallet_block_changed", aggregateId: walletId, version, orgId, payload };
}

function ofOperation(type: string, operation: Operation, version: bigint, payload: Uint8Array): NewEvent {
  const { orgId, ledgerRef } = operation;
  return { topic: TOPIC, type, aggregateId: ledgerRef, version, orgId, payload };
}
