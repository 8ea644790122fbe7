import { type Tx } from "@wonrail/kit/db";
import { enumValue } from "@wonrail/kit/grpc/server";
import { appendEvents } from "@wonrail/kit/outbox";
import {
  WalletCreated,
  WalletDeactivated,
  WalletReopened,
  WalletUpdated,
} from "@wonrail/proto/wallet/events/v1/events";
import { type WalletFacts, WalletType } from "@wonrail/proto/wallet/v1/wallet";
import { type Wallet } from "./domain/wallet";

const TOPIC = "wonrail.wallet.v1";

/** The way out: every event that this service publishes goes to this topic. */
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

export function walletCreated(tx: Tx, wallet: Wallet): Promise<void> {
  const { metadata, createdAt } = wallet;
  return append(
    tx,
    "wallet_created",
    wallet,
    WalletCreated.encode({ wallet: toFacts(wallet), metadata, createdAt }).finish(),
  );
}

export function walletUpdated(tx: Tx, wallet: Wallet): Promise<void> {
  const { walletId, metadata, updatedAt } = wallet;
  return append(
    tx,
    "wallet_updated",
    wallet,
    WalletUpdated.encode({ walletId, metadata, updatedAt }).finish(),
  );
}

export function walletDeactivated(tx: Tx, wallet: Wallet): Promise<void> {
  const { walletId, updatedAt } = wallet;
  return append(
    tx,
    "wallet_deactivated",
    wallet,
    WalletDeactivated.encode({ walletId, deactivatedAt: updatedAt }).finish(),
  );
}

export function walletReopened(tx: Tx, wallet: Wallet): Promise<void> {
  const { walletId, updatedAt } = wallet;
  return append(
    tx,
    "wallet_reopened",
    wallet,
    WalletReopened.encode({ walletId, reopenedAt: updatedAt }).finish(),
  );
}

function append(tx: Tx, type: string, wallet: Wallet, payload: Uint8Array): Promise<void> {
  const { orgId, walletId, version } = wallet;
  return appendEvents(tx, [{ topic: TOPIC, type, aggregateId: walletId, version, orgId, payload }]);
}

/** What never changes about a wallet, as others keep it. */
export function toFacts({ walletId, orgId, userId, walletType, address }: Wallet): WalletFacts {
  return { walletId, orgId, userId, walletType: enumValue(WalletType, walletType), walletAddress: address };
}
