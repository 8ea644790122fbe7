import { assert } from "@wonrail/kit/contract/errors";
import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import {
  DepositCredited,
  OperationFailed,
  OperationsConfirmed,
  OperationsSubmitted,
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

/** Publishes settlements, deposits, recorded transactions and blocked wallets of chain-relayer. */
export async function projectChain(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  await publishChanges(tx, events, async () => {
    const decoded = events.map((event) => ({
      event,
      news: settlementNews(event),
      block: walletBlock(event),
    }));
    const [cancelled, balances] = await Promise.all([
      findCancelledObjects(
        tx,
        decoded.flatMap(({ news }) => news.map(({ orgId, ledgerRef }) => ({ orgId, cancelId: ledgerRef }))),
      ),
      findBalances(
        tx,
        decoded.flatMap(({ event, block }) =>
          block ? [{ orgId: event.orgId, walletId: block.walletId }] : [],
        ),
      ),
    ]);
    return decoded.flatMap(({ event, news, block }) => {
      if (block) return [blockChange(event, block, balances.get(block.walletId))];
      if (!(event.type in SETTLEMENT_READERS)) return [otherChange(event)];
      return news.map((each) => settlementChange(each, objectOf(each, cancelled)));
    });
  });
}

/** A reference without a known object is stored under its own name until its entry comes. */
function objectOf({ ledgerRef }: SettlementNews, cancelled: Map<string, string>): string {
  return objectOfRef(ledgerRef) ?? cancelled.get(ledgerRef) ?? ledgerRef;
}

type Content = Omit<SettlementNews, "orgId" | "sourceId" | "occurredAt">;

const SETTLEMENT_READERS: Record<string, (payload: Buffer) => Content[]> = {
  operations_submitted(payload) {
    const { network, txHash, operations } = OperationsSubmitted.decode(payload);
    const place = { network, txHash, blockNumber: null, failureReason: null };
    return operations.map(({ ledgerRef }) => ({ ledgerRef, status: "SUBMITTED", ...place }));
  },
  operations_confirmed(payload) {
    const { network, operations } = OperationsConfirmed.decode(payload);
    return operations.map(({ ledgerRef, txHash, blockNumber }) => ({
      ...{ ledgerRef, status: "CONFIRMED", network, txHash },
      ...{ blockNumber: Number(blockNumber), failureReason: null },
    }));
  },
  operation_failed(payload) {
    const { ledgerRef, network, reason } = OperationFailed.decode(payload);
    const place = { network, txHash: null, blockNumber: null };
    return [{ ledgerRef, status: "FAILED", ...place, failureReason: reason }];
  },
};

function settlementNews(event: ReceivedEvent): SettlementNews[] {
  const contents = SETTLEMENT_READERS[event.type]?.(event.payload) ?? [];
  return contents.map((content) => ({ ...sourceOf(event), ...content }));
}

function walletBlock({ type, payload }: ReceivedEvent): WalletBlockChanged | undefined {
  return type === "wallet_block_changed" ? WalletBlockChanged.decode(payload) : undefined;
}

/** An unblocked wallet is published as updated: the contract has no other name for it. */
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
