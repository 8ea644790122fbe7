import { type Id } from "@wonrail/kit/contract/ids";
import { type Metadata } from "./metadata";

export type WalletType = "NORMAL" | "INCENTIVE" | "GOVERNMENT";

/** The statuses that partners see. */
export type WalletStatus = "ACTIVE" | "DEACTIVATED";

/** The stored statuses. A retry or a job finishes a wallet that is OPENING or DEACTIVATING. */
export type StoredStatus = WalletStatus | "OPENING" | "DEACTIVATING";

export interface Wallet {
  orgId: string;
  walletId: Id<"wal">;
  userId: string;
  walletType: WalletType;
  address: string;
  keyIndex: number;
  status: StoredStatus;
  /** The request id for closing the ledger account, while the wallet is DEACTIVATING. */
  closingRequestId: string | null;
  timesReopened: number;
  metadata: Metadata;
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}

/** A wallet that is DEACTIVATING, with its request to the ledger. */
export type ClosingWallet = Wallet & { closingRequestId: string };

export interface Balance {
  balanceWon: string;
  availableWon: string;
}

export const EMPTY_BALANCE: Balance = { balanceWon: "0", availableWon: "0" };

export interface WalletWithBalance {
  wallet: Wallet;
  balance: Balance;
}

/** A DEACTIVATING wallet shows as ACTIVE: the ledger may still refuse. */
export function visibleStatus(status: StoredStatus): WalletStatus {
  return status === "DEACTIVATED" ? "DEACTIVATED" : "ACTIVE";
}
