import { assert } from "@wonrail/kit/contract/errors";
import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import {
  DepositCredited,
  OperationConfirmed,
  OperationFailed,
  OperationSubmitted,
  RecordChanged,
  WalletBlockChanged,
} from "@wonrail/proto/relayer/events/v1/events";
import { type Change, type SettlementNews } from "../domain/change";
import { depositCredited } from "../domain/deposits";
import { recordChanged } from "../domain/records";
import { objectOfRef, settlementChange } from "../domain/settlements";
import { type Balance, walletChanged } from "../domain/wallets";
import { findBalances } from "../store/balances";
import { findCancelledObjects } from "../store/cancellations";
import { publishChanges } from "./publishChanges";

/** Publishes what chain-relayer tells: settlements, deposits, recorded transactions and blocked wallets. */
export async function projectChain(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  await publishChanges(tx, events, async () => {
    const news = new Map(events.flatMap((event) => withKey(event, settlementNews(event))));
    const blocks = new Map(events.flatMap((event) => withKey(event, walletBlock(event))));
    const [cancelled, balances] = await Promise.all([
      findCancelledObjects(
        tx,
        [...news.values()].map(({ orgId, ledgerRef }) => ({ orgId, cancelId: ledgerRef })),
      ),
      findBalances(
        tx,
        [...blocks.values()].map(({ orgId, walletId }) => ({ orgId, walletId })),
      ),
    ]);
    return events.map((event) => {
      const settled = news.get(event.id);
      if (settled) {
        const { ledgerRef } = settled;
        return settlementChange(settled, objectOfRef(ledgerRef) ?? cancelled.get(ledgerRef) ?? ledgerRef);
      }
      const block = blocks.get(event.id);
      return block ? blockChange(event, block, balances.get(block.walletId)) : otherChange(event);
    });
  });
}

function withKey<T>({ id }: ReceivedEvent, value: T | undefined): [string, T][] {
  return value === undefined ? [] : [[id, value]];
}

const SETTLEMENT_READERS: Record<string, (payload: Buffer) => Content> = {
  operation_submitted(payload) {
    const { ledgerRef, network, txHash } = OperationSubmitted.decode(payload);
    return { ledgerRef, status: "SUBMITTED", network, txHash, blockNumber: null, failureReason: null };
  },
  operation_confirmed(payload) {
    const { ledgerRef, network, txHash, blockNumber } = OperationConfirmed.decode(payload);
    const place = { txHash, blockNumber: Number(blockNumber) };
    return { ledgerRef, status: "CONFIRMED", network, ...place, failureReason: null };
  },
  operation_failed(payload) {
    const { ledgerRef, network, reason } = OperationFailed.decode(payload);
    return { ledgerRef, status: "FAILED", network, txHash: null, blockNumber: null, failureReason: reason };
  },
};

type Content = Omit<SettlementNews, "orgId" | "sourceId" | "occurredAt">;

function settlementNews(event: ReceivedEvent): SettlementNews | undefined {
  const read = SETTLEMENT_READERS[event.type];
  return read && { ...sourceOf(event), ...read(event.payload) };
}

function walletBlock({ type, payload }: ReceivedEvent): WalletBlockChanged | undefined {
  return type === "wallet_block_changed" ? WalletBlockChanged.decode(payload) : undefined;
}

/** A wallet that is no longer blocked is told of as updated: the contract has no other name for it. */
function blockChange(
  event: ReceivedEvent,
  { walletId, blocked }: WalletBlockChanged,
  balance?: Balance,
): Change {
  const type = blocked ? "wallet.frozen" : "wallet.updated";
  return walletChanged({ ...sourceOf(event), objectId: walletId, type }, {}, balance);
}

function otherChange(event: ReceivedEvent): Change {
  if (event.type === "deposit_credited")
    return depositCredited(sourceOf(event), DepositCredited.decode(event.payload));
  assert(event.type === "record_changed", `${event.type} has no public event`);
  return recordChanged(sourceOf(event), RecordChanged.decode(event.payload));
}

function sourceOf({ id, orgId, occurredAt }: ReceivedEvent) {
  return { sourceId: id, orgId, occurredAt };
}
