import type { ApiPromise, CallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { accept, asObject, pathId } from "../internal/checks.ts";
import { type Moment, momentText, type Settlement } from "./shared.ts";

/** Payments draw on GOVERNMENT, then INCENTIVE, then NORMAL; on GOVERNMENT with 0 for now, so what is in it stays but for charges that are cancelled in time. */
export type WalletType = "NORMAL" | "INCENTIVE" | "GOVERNMENT";
export type WalletStatus = "ACTIVE" | "DEACTIVATED";
/** At most 5 pairs: keys to 40 characters, values to 500. */
export type WalletMetadata = Record<string, string>;

export interface CreateWalletRequest {
  /** The user's identifier in your own system. */
  userId: string;
  walletType: WalletType;
  metadata?: WalletMetadata | undefined;
}

/** A wallet that was made just now. */
export interface NewWallet {
  walletId: string;
  userId: string;
  walletType: WalletType;
  /** EIP-55 checksummed. */
  walletAddress: string;
  /** In KRW. */
  balance: number;
  status: WalletStatus;
  metadata: WalletMetadata;
  createdAt: string;
}

export interface Wallet extends NewWallet {
  /** The balance less what is held for transfers on their way. */
  availableBalance: number;
  updatedAt: string;
}

export interface UpdateWalletRequest {
  /** Replaces what was there. */
  metadata: WalletMetadata;
}

export type WalletListQuery = PageQuery & {
  userId?: string | undefined;
  walletType?: WalletType | undefined;
  status?: WalletStatus | undefined;
};

export type WalletTransactionType =
  | "TRANSFER"
  | "CHARGE"
  | "CHARGE_CANCEL"
  | "PAYMENT"
  | "PAYMENT_CANCEL"
  | "REFUND"
  | "INCENTIVE"
  | "INCENTIVE_USE"
  | "INCENTIVE_CANCEL"
  | "INCENTIVE_USE_CANCEL";

/** One thing that moved a wallet's balance. */
export interface WalletTransaction {
  transactionId: string;
  type: WalletTransactionType;
  direction: "IN" | "OUT";
  /** In KRW. */
  amount: number;
  balanceAfter: number;
  /** The other wallet's id or the outside address; null for what is minted or burnt. Of a payer's several wallets the first that paid. */
  counterparty: string | null;
  memo: string | null;
  /** What it belongs to, such as a payment's id. */
  relatedId: string;
  /** Of what takes something back, the cancellation: the parts of a cancelled charge share their relatedId. */
  cancelId: string | null;
  settlement: Settlement;
  createdAt: string;
}

export type WalletTransactionListQuery = PageQuery & {
  /** One or several. */
  type?: WalletTransactionType | readonly WalletTransactionType[] | undefined;
  /** Not before this moment. */
  from?: Moment | undefined;
  /** Before this moment. */
  to?: Moment | undefined;
};

const PATH = "/api/wallets";
const MAX_METADATA_PAIRS = 5;

/** Users' wallets and what moved their balances. */
export class WalletsApi extends ApiResource {
  /** A user has one wallet of each type: a second is refused with WAL_001, and `details.walletId` names the first. */
  create(request: CreateWalletRequest, options?: CallOptions): ApiPromise<NewWallet> {
    return this.post(() => ({ path: PATH, body: checkedMetadata(request) }), options);
  }

  get(walletId: string, options?: CallOptions): ApiPromise<Wallet> {
    return this.read(() => walletPath(walletId), options);
  }

  list(query: WalletListQuery = {}, options?: CallOptions): PagePromise<Wallet> {
    return this.pages(() => ({ path: PATH, query: asObject("(query)", query) }), options);
  }

  update(walletId: string, request: UpdateWalletRequest, options?: CallOptions): ApiPromise<Wallet> {
    return this.patch(() => ({ path: walletPath(walletId), body: checkedMetadata(request) }), options);
  }

  /** Refused while the wallet holds money, what is held for a transfer on its way included. Afterwards everything but reading it is WAL_004. */
  deactivate(walletId: string, options?: CallOptions): ApiPromise<Wallet> {
    return this.post(() => ({ path: `${walletPath(walletId)}/deactivate` }), options);
  }

  /** Everything that moved the wallet's balance, newest first. */
  listTransactions(
    walletId: string,
    query: WalletTransactionListQuery = {},
    options?: CallOptions,
  ): PagePromise<WalletTransaction> {
    return this.pages(
      () => ({ path: `${walletPath(walletId)}/transactions`, query: linesWanted(query) }),
      options,
    );
  }
}

function walletPath(walletId: string): string {
  return `${PATH}/${pathId(walletId, "WAL_002")}`;
}

function linesWanted(query: WalletTransactionListQuery) {
  const { type, from, to, ...part } = asObject("(query)", query);
  const types = type === undefined ? undefined : [type].flat().join(",");
  // Left out, an empty one would be all of them.
  accept([types === "" ? { path: "type", message: "must be one or several types" } : undefined]);
  return { ...part, type: types, from: momentText(from), to: momentText(to) };
}

function checkedMetadata<T extends { metadata?: WalletMetadata | undefined }>(request: T): T {
  const pairs = Object.keys(asObject("(body)", request).metadata ?? {}).length;
  const message = `must have at most ${MAX_METADATA_PAIRS} pairs`;
  accept([pairs > MAX_METADATA_PAIRS ? { path: "metadata", message } : undefined]);
  return request;
}
