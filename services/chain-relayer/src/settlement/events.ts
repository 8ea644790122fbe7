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
import { type Confirmation, type FailureProof, type Operation } from "./store/operations";

/** Bounds the size of an event. */
const OPERATIONS_PER_EVENT = 500;

/** One event per organisation, because each event costs rows in every inbox. */
export function operationsSubmitted(operations: Operation[], network: string, txHash: string): NewEvent[] {
  return inEvents(operations, (operation) => operation).map((ofOne) => {
    const submitted = ofOne.map(({ ledgerRef, relatedId, ...operation }) => ({
      ...{ ledgerRef, relatedId, version: versionOf(operation) },
    }));
    const payload = OperationsSubmitted.encode({ network, txHash, operations: submitted }).finish();
    return ofOrganisation("operations_submitted", ofOne, payload);
  });
}

export function operationsConfirmed(confirmations: Confirmation[], network: string): NewEvent[] {
  return inEvents(confirmations, ({ operation }) => operation).map((ofOne) => {
    const operations = ofOne.map(({ operation, ...of }) => {
      const { ledgerRef, relatedId } = operation;
      return { ledgerRef, relatedId, version: versionOf(operation), ...of };
    });
    const payload = OperationsConfirmed.encode({ network, operations }).finish();
    return ofOrganisation(
      "operations_confirmed",
      ofOne.map(({ operation }) => operation),
      payload,
    );
  });
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
  const of = { aggregateId: ledgerRef, version: versionOf(operation), orgId: operation.orgId };
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

function inEvents<T>(items: T[], operationOf: (item: T) => Operation): T[][] {
  const byOrganisation = groupBy(items, (item) => operationOf(item).orgId);
  return [...byOrganisation.values()].flatMap((each) => chunksOf(each, OPERATIONS_PER_EVENT));
}

function ofOrganisation(type: string, operations: Operation[], payload: Uint8Array): NewEvent {
  const { orgId } = operations[0]!;
  const versions = operations.map(versionOf);
  const version = versions.reduce((greatest, each) => (each > greatest ? each : greatest));
  return { topic: TOPIC, type, aggregateId: orgId, version, orgId, payload };
}

function versionOf({ attempts }: Pick<Operation, "attempts">): bigint {
  return BigInt(attempts + 1);
}
