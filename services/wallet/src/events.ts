import { type NewEvent } from "@wonrail/kit/outbox";
import {
  WalletCreated,
  WalletDeactivated,
  WalletReopened,
  WalletUpdated,
} from "@wonrail/proto/wallet/events/v1/events";
import { type Wallet } from "./domain/wallet";
import { walletFactsMessage } from "./messages";

const TOPIC = "wonrail.wallet.v1";

/** Every event of this service goes to this topic. */
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

export function walletCreated(wallet: Wallet): NewEvent {
  const { metadata, createdAt, keyIndex } = wallet;
  return event(
    "wallet_created",
    wallet,
    WalletCreated.encode({ wallet: walletFactsMessage(wallet), metadata, createdAt, keyIndex }).finish(),
  );
}

export function walletUpdated(wallet: Wallet): NewEvent {
  const { walletId, metadata, updatedAt } = wallet;
  return event("wallet_updated", wallet, WalletUpdated.encode({ walletId, metadata, updatedAt }).finish());
}

export function walletDeactivated(wallet: Wallet): NewEvent {
  const { walletId, updatedAt } = wallet;
  return event(
    "wallet_deactivated",
    wallet,
    WalletDeactivated.encode({ walletId, deactivatedAt: updatedAt }).finish(),
  );
}

export function walletReopened(wallet: Wallet): NewEvent {
  const { walletId, updatedAt } = wallet;
  return event(
    "wallet_reopened",
    wallet,
    WalletReopened.encode({ walletId, reopenedAt: updatedAt }).finish(),
  );
}

function event(type: string, wallet: Wallet, payload: Uint8Array): NewEvent {
  const { orgId, walletId, version } = wallet;
  return { topic: TOPIC, type, aggregateId: walletId, version, orgId, payload };
}
