import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { JournalPosted } from "@wonrail/proto/ledger/events/v1/events";
import { Freeze, FreezeSource } from "@wonrail/proto/ledger/v1/intents";
import { type Change } from "../domain/change";
import { type JournalEntry, cancellationOf, changeOfEntry } from "../domain/journal";
import { walletChanged } from "../domain/wallets";
import { saveBalances, type WalletBalance } from "../store/balances";
import { saveCancellations } from "../store/cancellations";
import { findChangedMetadata } from "../store/changedMetadata";
import { publishChanges } from "./publishChanges";

/** Publishes what the ledger's entries did to transfers, charges, refunds and payments. */
export async function projectJournal(
  { network }: { network: string },
  tx: Tx,
  events: ReceivedEvent[],
): Promise<void> {
  const entries = events.flatMap(({ id, orgId, payload }) =>
    JournalPosted.decode(payload).entries.map((entry) => ({ orgId, sourceId: id, entry })),
  );
  await publishChanges(tx, entries, async () => {
    const metadata = await findChangedMetadata(tx, entries.flatMap(idsOf));
    const changes = entries.flatMap(
      (entry) => freezeByOperator(entry) ?? changeOfEntry(entry, network, (id) => metadata.get(id)) ?? [],
    );
    saveBalances(tx, newestBalances(entries));
    saveCancellations(
      tx,
      changes.flatMap((change) => {
        const cancellation = cancellationOf(change);
        return cancellation ? [{ orgId: change.orgId, ...cancellation }] : [];
      }),
    );
    return changes;
  });
}

/**
 * The wallet that operators froze or unfroze. A freeze by the chain is published from chain-relayer's
 * event.
 */
function freezeByOperator({ orgId, sourceId, entry }: JournalEntry): Change | undefined {
  if (entry.result?.$case !== "walletFreeze") return undefined;
  const { walletId, source, freeze } = entry.result.value;
  if (source !== FreezeSource.OPERATOR) return undefined;
  const type = freeze === Freeze.NONE ? "wallet.updated" : "wallet.frozen";
  const after = entry.balances.find(({ accountId }) => accountId === walletId);
  const amounts = after && { balanceWon: BigInt(after.balanceWon), availableWon: BigInt(after.availableWon) };
  return walletChanged(
    { orgId, sourceId, occurredAt: entry.postedAt!, objectId: walletId, type },
    {},
    amounts,
  );
}

/** The ids of the objects that an entry makes or changes. */
function idsOf({ orgId, entry }: JournalEntry) {
  const ids = [entry.requestId, ...(entry.original ? [entry.original.requestId] : [])];
  return ids.map((objectId) => ({ orgId, objectId }));
}

/** The entries of an organisation come in their order, so the last balance of a wallet is its newest. */
function newestBalances(entries: JournalEntry[]): WalletBalance[] {
  const newest = new Map<string, WalletBalance>();
  for (const { orgId, entry } of entries) {
    for (const { accountId, balanceWon, availableWon } of entry.balances) {
      if (!accountId.startsWith("wal_")) continue;
      const amounts = { balanceWon: BigInt(balanceWon), availableWon: BigInt(availableWon) };
      newest.set(`${orgId} ${accountId}`, { orgId, walletId: accountId, ...amounts });
    }
  }
  return [...newest.values()].sort((one, other) => (one.walletId < other.walletId ? -1 : 1));
}
