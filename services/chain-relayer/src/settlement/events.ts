import { chunksOf } from "@wonrail/kit/chunksOf";
import { groupBy } from "@wonrail/kit/groupBy";
import { type NewEvent } from "@wonrail/kit/outbox";
import {
  OperationFailed,
  OperationsConfirmed,
  OperationsSubmitted,
  WalletBlockChanged,
} from "@wonrail/proto/relayer/events/v1/events";
import { TOPIC } from "../events";
import { type WalletBlock } from "./store/walletBlocks";
import { type Change, type Confirmed, type FailureProof, type Operation } from "./store/operations";

/** Bounds the size of an event. */
const OPERATIONS_PER_EVENT = 500;

interface Submission {
  network: string;
  txHash: string;
  changedAt: Date;
}

/** Makes an event per organisation, because each event costs rows in every inbox. */
export function operationsSubmitted(operations: Operation[], submission: Submission): NewEvent[] {
  const submitted = operations.map((operation) => ({ operation, version: BigInt(operation.attempts + 1) }));
  return inEvents(submitted).map((ofOne) => {
    const payload = OperationsSubmitted.encode({ ...submission, operations: ofOne.map(named) }).finish();
    return ofOrganisation("operations_submitted", ofOne, payload);
  });
}

export function operationsConfirmed(confirmations: Confirmed[], network: string): NewEvent[] {
  return inEvents(confirmations).map((ofOne) => {
    const operations = ofOne.map((one) => {
      const { txHash, blockNumber, blockHash, gasUsed } = one;
      return { ...named(one), txHash, blockNumber, blockHash, gasUsed };
    });
    const { changedAt } = ofOne[0]!;
    const payload = OperationsConfirmed.encode({ network, operations, changedAt }).finish();
    return ofOrganisation("operations_confirmed", ofOne, payload);
  });
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
  const of = { aggregateId: ledgerRef, version, orgId: operation.orgId };
  return { topic: TOPIC, type: "operation_failed", ...of, payload };
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

interface VersionedOperation {
  operation: Operation;
  version: bigint;
}

function named({ operation: { ledgerRef, relatedId }, version }: VersionedOperation) {
  return { ledgerRef, relatedId, version };
}

function inEvents<T extends VersionedOperation>(all: T[]): T[][] {
  const byOrganisation = groupBy(all, ({ operation }) => operation.orgId);
  return [...byOrganisation.values()].flatMap((each) => chunksOf(each, OPERATIONS_PER_EVENT));
}

function ofOrganisation(type: string, all: VersionedOperation[], payload: Uint8Array): NewEvent {
  const { orgId } = all[0]!.operation;
  const version = all.reduce((greatest, each) => (each.version > greatest ? each.version : greatest), 0n);
  return { topic: TOPIC, type, aggregateId: orgId, version, orgId, payload };
}
