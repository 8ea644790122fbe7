import { assert } from "@wonrail/kit/contract/errors";
import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import {
  WalletCreated,
  WalletDeactivated,
  WalletReopened,
  WalletUpdated,
} from "@wonrail/proto/wallet/events/v1/events";
import { type Change } from "../domain/change";
import { type Balance, walletChanged, walletCreated } from "../domain/wallets";
import { findBalances } from "../store/balances";
import { publishChanges } from "./publishChanges";

/** Publishes what happened to wallets. The aggregate of each event is the wallet. */
export async function projectWallets(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  await publishChanges(tx, events, async () => {
    const wallets = events.map(({ orgId, aggregateId }) => ({ orgId, walletId: aggregateId }));
    const balances = await findBalances(tx, wallets);
    return events.map((event) => changeOf(event, balances.get(event.aggregateId)));
  });
}

function changeOf(event: ReceivedEvent, balance: Balance | undefined): Change {
  const { id: sourceId, orgId, occurredAt, aggregateId: objectId, type, payload } = event;
  const source = { sourceId, orgId, occurredAt };
  switch (type) {
    case "wallet_created":
      return walletCreated(source, WalletCreated.decode(payload), balance);
    case "wallet_updated": {
      const { metadata, updatedAt } = WalletUpdated.decode(payload);
      return walletChanged({ ...source, objectId, type: "wallet.updated" }, { metadata, updatedAt }, balance);
    }
    case "wallet_deactivated": {
      const { deactivatedAt: updatedAt } = WalletDeactivated.decode(payload);
      const changed = { status: "DEACTIVATED", updatedAt } as const;
      return walletChanged({ ...source, objectId, type: "wallet.deactivated" }, changed, balance);
    }
    default: {
      assert(type === "wallet_reopened", `${type} has no public event`);
      const { reopenedAt: updatedAt } = WalletReopened.decode(payload);
      const changed = { status: "ACTIVE", updatedAt } as const;
      return walletChanged({ ...source, objectId, type: "wallet.updated" }, changed, balance);
    }
  }
}
