import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { accept, asObject, atLeast, isAddress, memoFits, pathId, wholeWon } from "../internal/checks.ts";
import type { Settlement } from "./shared.ts";

export interface TransferRequest {
  /** A NORMAL wallet. */
  fromWalletId: string;
  toWalletAddress: string;
  /** In KRW. */
  amount: number;
  /** To 200 characters. */
  memo?: string | undefined;
}

export interface Transfer {
  transferId: string;
  /** Between two of your wallets COMPLETED at once; to an outside address PENDING until the chain is final. */
  status: "PENDING" | "COMPLETED" | "FAILED";
  fromWalletId: string;
  toWalletAddress: string;
  /** Null when the destination is not one of your wallets. */
  toWalletId: string | null;
  amount: number;
  memo: string | null;
  settlement: Settlement;
  failureReason: string | null;
  createdAt: string;
}

export type TransferListQuery = PageQuery & { walletId?: string | undefined };

const PATH = "/api/wallets/transfer";

/** From a wallet to an address, without gas for the user. */
export class TransfersApi extends ApiResource {
  create(request: TransferRequest, options?: IdempotentCallOptions): ApiPromise<Transfer> {
    return this.move(() => ({ path: PATH, body: checked(request) }), options);
  }

  get(transferId: string, options?: CallOptions): ApiPromise<Transfer> {
    return this.read(() => `${PATH}/${pathId(transferId, "TRF_005")}`, options);
  }

  list(query: TransferListQuery = {}, options?: CallOptions): PagePromise<Transfer> {
    return this.pages(() => ({ path: PATH, query: asObject("(query)", query) }), options);
  }
}

function checked(request: TransferRequest): TransferRequest {
  const { toWalletAddress, amount, memo } = asObject("(body)", request);
  accept([wholeWon("amount", amount) ?? atLeast("amount", amount, 1), memoFits(memo)]);
  accept([isAddress("toWalletAddress", toWalletAddress)], "TRF_002");
  return request;
}
