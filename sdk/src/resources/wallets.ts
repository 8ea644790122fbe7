import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { checkTime, pathSegment, requireFields, throwProblems } from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import {
  type Moment,
  MONEY_NAMES,
  type MoneyFilters,
  PAGE_NAMES,
  type Settlement,
  toIsoString,
} from "./shared.ts";

/**
 * Payments draw on GOVERNMENT, then INCENTIVE, then NORMAL. In this version they draw 0 from
 * GOVERNMENT.
 */
export type WalletType = "NORMAL" | "INCENTIVE" | "GOVERNMENT";
/** A DEACTIVATED wallet can only be read. */
export type WalletStatus = "ACTIVE" | "DEACTIVATED";
/** At most 5 pairs. Keys have at most 40 characters, values at most 500. */
export type WalletMetadata = Record<string, string>;

/** Request of `wallets.create`. */
export interface CreateWalletRequest {
  /** Id of the user in your own system. */
  userId: string;
  /** Type of the wallet. */
  walletType: WalletType;
  /** Your own data about the wallet. */
  metadata?: WalletMetadata | undefined;
}

/** A new wallet. */
export interface CreatedWallet {
  /** Id of the wallet. */
  walletId: string;
  /** Id of the user in your own system. */
  userId: string;
  /** Type of the wallet. */
  walletType: WalletType;
  /** Address on the chain, with EIP-55 checksum. */
  walletAddress: string;
  /** Balance in KRW. */
  balance: number;
  /** State of the wallet. */
  status: WalletStatus;
  /** Your own data about the wallet. */
  metadata: WalletMetadata;
  /** Time of the creation. */
  createdAt: string;
}

/** A wallet. */
export interface Wallet extends CreatedWallet {
  /** Balance in KRW without the amounts that pending transfers hold. */
  availableBalance: number;
  /** Time of the last change. */
  updatedAt: string;
}

/** Request of `wallets.update`. */
export interface UpdateWalletRequest {
  /** Replaces all earlier metadata. */
  metadata: WalletMetadata;
}

/** Filters of `wallets.list`. An undefined filter is refused, because it would list all wallets. */
export type WalletListQuery = PageQuery & {
  /** Wallets of this user. */
  userId?: string;
  /** Wallets of this type. */
  walletType?: WalletType;
  /** Wallets in this state. */
  status?: WalletStatus;
};

/** Type of a wallet transaction. */
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

/** Status of the charge or payment that a wallet transaction belongs to. COMPLETED for the others. */
export type WalletTransactionStatus =
  | "COMPLETED"
  | "CHARGED"
  | "PARTIALLY_CANCELLED"
  | "CANCELLED"
  | "PAID"
  | "PARTIALLY_REFUNDED"
  | "REFUNDED";

/** A line of a wallet's statement. */
export interface WalletTransaction {
  /** Wallet whose balance moved. */
  walletId: string;
  /** Id of the line. */
  transactionId: string;
  /** Type of the movement. */
  type: WalletTransactionType;
  /** IN raises the balance, OUT lowers it. */
  direction: "IN" | "OUT";
  /** Amount in KRW. */
  amount: number;
  /** Balance in KRW after this line. */
  balanceAfter: number;
  /**
   * Id of the other wallet, or the outside address, or null for a mint or a burn. If several wallets
   * of a payer paid, the first of them.
   */
  counterparty: string | null;
  /** Memo of the request. */
  memo: string | null;
  /** Reference of the request. */
  reference: string | null;
  /** Id of the payment, charge, refund or transfer. */
  relatedId: string;
  /**
   * Status of the charge or payment in relatedId, as it is now. COMPLETED for transfers, refunds and
   * deposits.
   */
  status: WalletTransactionStatus;
  /** Id of the cancellation, else null. Parts of a cancelled charge share their relatedId. */
  cancelId: string | null;
  /** Settlement of the movement. */
  settlement: Settlement;
  /** Time of the movement. */
  createdAt: string;
}

/** Filters of `wallets.listTransactions`. An undefined filter is refused. */
export type WalletTransactionListQuery = PageQuery & {
  /** A type or an array of types. */
  type?: WalletTransactionType | readonly WalletTransactionType[];
  /** Start of the period, inclusive. */
  from?: Moment;
  /** End of the period, exclusive. */
  to?: Moment;
  /** asc: oldest first. Default: desc, newest first. */
  order?: "asc" | "desc" | undefined;
};

/** Filters of `wallets.listAllTransactions`. An undefined filter is refused. */
export type AllTransactionsQuery = PageQuery &
  MoneyFilters & {
    /** A type or an array of types. */
    type?: WalletTransactionType | readonly WalletTransactionType[];
    /** Movements of charges or payments with this status. */
    status?: WalletTransactionStatus;
  };

/** The balance of a wallet at a time. */
export interface BalanceAtTime {
  /** Id of the wallet. */
  walletId: string;
  /** Time of the balance. */
  at: string;
  /** Balance in KRW after all movements before this time. */
  balance: number;
}

/** Query of `wallets.getBalance`. */
export interface BalanceQuery {
  /** The time. Without it now, so undefined is refused. */
  at?: Moment;
}

const PATH = "/api/wallets";
const MAX_METADATA_PAIRS = 5;
const CREATE_NAMES: KnownNames<CreateWalletRequest> = { userId: true, walletType: true, metadata: true };
const UPDATE_NAMES: KnownNames<UpdateWalletRequest> = { metadata: true };
const LIST_NAMES: KnownNames<WalletListQuery> = {
  ...PAGE_NAMES,
  userId: "for all users",
  walletType: "for all types",
  status: "for all states",
};
const STATEMENT_NAMES: KnownNames<WalletTransactionListQuery> = {
  ...PAGE_NAMES,
  type: "for all types",
  from: "to start at the oldest",
  to: "to end at the newest",
  order: true,
};

const ALL_NAMES: KnownNames<AllTransactionsQuery> = {
  ...PAGE_NAMES,
  ...MONEY_NAMES,
  type: "for all types",
  status: "for all states",
};
const BALANCE_NAMES: KnownNames<BalanceQuery> = { at: "to read the balance now" };

/** Users' wallets and their statements. */
export class WalletsApi extends ApiResource {
  /**
   * Creates a wallet. A user has one wallet of each type. A second one is refused with WAL_001, and
   * `details.walletId` names the first.
   */
  create(request: CreateWalletRequest, options?: IdempotentCallOptions): ApiPromise<CreatedWallet> {
    return this.keyedPost(
      () => ({ path: PATH, body: checkMetadata(requireFields("(body)", request, CREATE_NAMES)) }),
      options,
    );
  }

  /** Reads a wallet with its balance. */
  get(walletId: string, options?: CallOptions): ApiPromise<Wallet> {
    return this.read(() => walletPath(walletId), options);
  }

  /** Lists wallets, newest first. */
  list(query: WalletListQuery = {}, options?: CallOptions): PagePromise<Wallet> {
    return this.pages(() => ({ path: PATH, query: requireFields("(query)", query, LIST_NAMES) }), options);
  }

  /** Replaces the metadata of a wallet. */
  update(walletId: string, request: UpdateWalletRequest, options?: CallOptions): ApiPromise<Wallet> {
    const body = () => checkMetadata(requireFields("(body)", request, UPDATE_NAMES));
    return this.patch(() => ({ path: walletPath(walletId), body: body() }), options);
  }

  /**
   * Deactivates a wallet. Refused with WAL_003 while the wallet holds money, pending transfers
   * included. A deactivated wallet can only be read.
   */
  deactivate(walletId: string, options?: IdempotentCallOptions): ApiPromise<Wallet> {
    return this.keyedPost(() => ({ path: `${walletPath(walletId)}/deactivate` }), options);
  }

  /** Lists all movements of the wallet's balance. */
  listTransactions(
    walletId: string,
    query: WalletTransactionListQuery = {},
    options?: CallOptions,
  ): PagePromise<WalletTransaction> {
    return this.pages(
      () => ({ path: `${walletPath(walletId)}/transactions`, query: statementQuery(query) }),
      options,
    );
  }

  /**
   * Lists the movements of all wallets of your organisation, newest first. All ten types, refunds and
   * deposits included. The pages have no total count.
   */
  listAllTransactions(
    query: AllTransactionsQuery = {},
    options?: CallOptions,
  ): PagePromise<WalletTransaction> {
    return this.pages(() => ({ path: "/api/transactions", query: allQuery(query) }), options);
  }

  /** Reads the balance of a wallet at a time in the past. */
  getBalance(walletId: string, query: BalanceQuery = {}, options?: CallOptions): ApiPromise<BalanceAtTime> {
    return this.read(() => balancePath(walletId, query), options);
  }
}

function walletPath(walletId: string): string {
  return `${PATH}/${pathSegment("walletId", walletId, "WAL_002")}`;
}

function statementQuery(query: WalletTransactionListQuery) {
  const { type, from, to, ...part } = requireFields("(query)", query, STATEMENT_NAMES);
  return { ...part, type: typesOf(type), from: toIsoString(from), to: toIsoString(to) };
}

function allQuery(query: AllTransactionsQuery) {
  const { type, from, to, ...part } = requireFields("(query)", query, ALL_NAMES);
  return { ...part, type: typesOf(type), from: toIsoString(from), to: toIsoString(to) };
}

function typesOf(type: WalletTransactionListQuery["type"]): string | undefined {
  const types = type === undefined ? undefined : [type].flat().join(",");
  // The service would read an empty filter as all types.
  throwProblems([
    types === "" ? { path: "type", message: "must be a type or an array of types" } : undefined,
  ]);
  return types;
}

function balancePath(walletId: string, query: BalanceQuery): string {
  const at = toIsoString(requireFields("(query)", query, BALANCE_NAMES).at);
  const path = `${walletPath(walletId)}/balance`;
  if (at === undefined) return path;
  throwProblems([checkTime("at", at)]);
  return `${path}?at=${encodeURIComponent(at)}`;
}

function checkMetadata<T extends { metadata?: WalletMetadata | undefined }>(request: T): T {
  const pairs = Object.keys(request.metadata ?? {}).length;
  const message = `must have at most ${MAX_METADATA_PAIRS} pairs`;
  throwProblems([pairs > MAX_METADATA_PAIRS ? { path: "metadata", message } : undefined]);
  return request;
}
