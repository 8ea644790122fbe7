import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import {
  checkAddress,
  checkMinimum,
  checkWon,
  pathSegment,
  requireFields,
  throwProblems,
} from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import { pollUntil, type WaitOptions, type WaitPredicate } from "../internal/pollUntil.ts";
import {
  metadataBody,
  NOTE_NAMES,
  noteProblems,
  type Notes,
  type ShownNotes,
  type UpdateMetadataRequest,
} from "./notes.ts";
import { MONEY_NAMES, type MoneyFilters, PAGE_NAMES, type Settlement, withTimes } from "./shared.ts";

/** Request of `transfers.create`. */
export interface TransferRequest extends Notes {
  /** A NORMAL wallet. */
  fromWalletId: string;
  /** Address of another wallet, or an outside address. */
  toWalletAddress: string;
  /** Amount in KRW, at least 1. */
  amount: number;
}

/** A transfer from a wallet to an address. */
export interface Transfer extends ShownNotes {
  /** Id of the transfer. */
  transferId: string;
  /**
   * COMPLETED at once between your own wallets. To an outside address PENDING until the chain is
   * final.
   */
  status: "PENDING" | "COMPLETED" | "FAILED";
  /** Wallet of the sender. */
  fromWalletId: string;
  /** Address of the receiver. */
  toWalletAddress: string;
  /** Wallet of the receiver, or null for an outside address. */
  toWalletId: string | null;
  /** Amount in KRW. */
  amount: number;
  /** Settlement of the transfer. */
  settlement: Settlement;
  /** Reason of a FAILED transfer, else null. */
  failureReason: string | null;
  /** Time of the transfer. */
  createdAt: string;
}

/** Filters of `transfers.list`. */
export type TransferListQuery = PageQuery &
  MoneyFilters & {
    /** Transfers from or to this wallet. Without it all transfers, so undefined is refused. */
    walletId?: string;
    /** Transfers in this state. */
    status?: Transfer["status"];
  };

const PATH = "/api/wallets/transfer";
const TRANSFER_NAMES: KnownNames<TransferRequest> = {
  fromWalletId: true,
  toWalletAddress: true,
  amount: true,
  ...NOTE_NAMES,
};
const LIST_NAMES: KnownNames<TransferListQuery> = {
  ...PAGE_NAMES,
  ...MONEY_NAMES,
  walletId: "for all wallets",
  status: "for all states",
};

/** Transfers from a wallet to an address. The user pays no gas. */
export class TransfersApi extends ApiResource {
  /** Transfers an amount to one of your wallets or to an outside address. */
  create(request: TransferRequest, options?: IdempotentCallOptions): ApiPromise<Transfer> {
    return this.keyedPost(() => ({ path: PATH, body: checkTransfer(request) }), options);
  }

  /** Reads a transfer. */
  get(transferId: string, options?: CallOptions): ApiPromise<Transfer> {
    return this.read(() => `${PATH}/${pathSegment("transferId", transferId, "TRF_005")}`, options);
  }

  /**
   * Reads the transfer every 1.5 seconds until the predicate is true, and resolves with the transfer.
   * Retryable failures do not end the wait. After a minute it rejects with a WaitTimeoutError that
   * carries the last state.
   */
  waitFor(
    transferId: string,
    predicate: WaitPredicate<Transfer>,
    options: WaitOptions = {},
  ): Promise<Transfer> {
    return pollUntil((callOptions) => this.get(transferId, callOptions), predicate, options);
  }

  /** Changes the metadata of a transfer. The pairs are merged, and null deletes a pair. */
  update(transferId: string, request: UpdateMetadataRequest, options?: CallOptions): ApiPromise<Transfer> {
    const path = () => `${PATH}/${pathSegment("transferId", transferId, "TRF_005")}`;
    return this.patch(() => ({ path: path(), body: metadataBody(request) }), options);
  }

  /** Lists transfers. */
  list(query: TransferListQuery = {}, options?: CallOptions): PagePromise<Transfer> {
    return this.pages(
      () => ({ path: PATH, query: withTimes(requireFields("(query)", query, LIST_NAMES)) }),
      options,
    );
  }
}

function checkTransfer(request: TransferRequest): TransferRequest {
  const { toWalletAddress, amount } = requireFields("(body)", request, TRANSFER_NAMES);
  throwProblems([checkWon("amount", amount) ?? checkMinimum("amount", amount, 1), ...noteProblems(request)]);
  throwProblems([checkAddress("toWalletAddress", toWalletAddress)], "TRF_002");
  return request;
}
