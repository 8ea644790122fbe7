import { type Id } from "@wonrail/kit/contract/ids";
import { type Metadata } from "./metadata";

export type WalletType = "NORMAL" | "INCENTIVE" | "GOVERNMENT";

/** What partners see. */
export type WalletStatus = "ACTIVE" | "DEACTIVATED";

/** What is stored: a wallet on its way is finished by a retry or by a job, whichever comes first. */
export type StoredStatus = WalletStatus | "OPENING" | "DEACTIVATING";

export interface Wallet {
  orgId: string;
  walletId: Id<"wal">;
  userId: string;
  walletType: WalletType;
  address: string;
  keyIndex: number;
  status: StoredStatus;
  /** Under which the ledger is asked to close its account, while it is DEACTIVATING. */
  closingRequestId: string | null;
  timesReopened: number;
  metadata: Metadata;
  version: bigint;
  createdAt: Date;
  updatedAt: Date;
}

/** One that is being deactivated, with the ledger's request for it. */
export type ClosingWallet = Wallet & { closingRequestId: string };

/** A wallet that is being deactivated is still active: the ledger may yet refuse. */
export function visibleStatus(status: StoredStatus): WalletStatus {
  return status === "DEACTIVATED" ? "DEACTIVATED" : "ACTIVE";
}
