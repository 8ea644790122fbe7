import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import {
  checkMemo,
  checkMinimum,
  checkWon,
  pathSegment,
  requireFields,
  throwProblems,
} from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import { type Cancellation, PAGE_NAMES, type Settlement } from "./shared.ts";

/** Request of `charges.create`. */
export interface ChargeRequest {
  /** Wallet to top up. */
  walletId: string;
  /** Amount in KRW, at least 1,000. */
  amount: number;
  /** At most 200 characters. */
  memo?: string | undefined;
}

/** A top-up of a wallet. */
export interface Charge {
  /** Id of the charge. */
  chargeId: string;
  /** CANCELLED: the whole amount is cancelled. */
  status: "CHARGED" | "PARTIALLY_CANCELLED" | "CANCELLED";
  /** Wallet that was topped up. */
  walletId: string;
  /** Amount in KRW. */
  amount: number;
  /** Sum of the cancellations in KRW. */
  cancelledAmount: number;
  /** The wallet's balance right after the charge, or after its newest cancellation once it is cancelled in part. */
  balance: number;
  /** End of the 30 days in which the charge can be cancelled. */
  cancellableUntil: string;
  /** Memo of the request. */
  memo: string | null;
  /** Settlement of the charge. Cancellations have their own. */
  settlement: Settlement;
  /** Time of the charge. */
  createdAt: string;
}

/** A cancellation of a charge or of a part of it. */
export interface ChargeCancellation extends Cancellation {
  /** Cancelled amount in KRW. */
  amount: number;
  /** Memo of the cancellation. */
  memo: string | null;
  /** Time of the cancellation. */
  createdAt: string;
}

/** A charge with its cancellations. */
export interface ChargeWithCancellations extends Charge {
  /** The newest 100 cancellations, oldest first. */
  cancellations: ChargeCancellation[];
}

/** Request of `charges.cancel`. */
export interface CancelChargeRequest {
  /** Charge to cancel. */
  chargeId: string;
  /** Amount in KRW. Without it the whole rest is cancelled, so undefined is refused. */
  amount?: number;
  /** At most 200 characters. */
  memo?: string | undefined;
}

/** A charge after a cancellation. */
export interface CancelledCharge extends Charge {
  /** Id of this cancellation. */
  cancelId: string;
  /** This cancellation. */
  cancellation: Cancellation;
}

/** Request of `charges.refund`. */
export interface RefundRequest {
  /** The NORMAL or GOVERNMENT wallet to empty. */
  walletId: string;
  /** At most 200 characters. */
  memo?: string | undefined;
}

/** A cash-out of a whole wallet. */
export interface Refund {
  /** Id of the refund. */
  refundId: string;
  /** Wallet that was emptied. */
  walletId: string;
  /** Refunded amount in KRW: the available balance at that time. */
  amount: number;
  /** Memo of the request. */
  memo: string | null;
  /** Settlement of the refund. */
  settlement: Settlement;
  /** Time of the refund. */
  createdAt: string;
}

/** Filters of `charges.list`. */
export type ChargeListQuery = PageQuery & {
  /** Charges of this wallet. Without it all charges, so undefined is refused. */
  walletId?: string;
};

const PATH = "/api/wallets/charge";
const MIN_CHARGE_WON = 1_000;
const CHARGE_NAMES: KnownNames<ChargeRequest> = { walletId: true, amount: true, memo: true };
const CANCEL_NAMES: KnownNames<CancelChargeRequest> = {
  chargeId: true,
  amount: "to cancel the whole rest",
  memo: true,
};
const REFUND_NAMES: KnownNames<RefundRequest> = { walletId: true, memo: true };
const LIST_NAMES: KnownNames<ChargeListQuery> = { ...PAGE_NAMES, walletId: "for all wallets" };

/** Top-ups, their cancellation, and refunds. */
export class ChargesApi extends ApiResource {
  /** Tops up a wallet. */
  create(request: ChargeRequest, options?: IdempotentCallOptions): ApiPromise<Charge> {
    return this.keyedPost(() => ({ path: PATH, body: checkCharge(request) }), options);
  }

  /** Cancels a charge within 30 days, in any number of parts. */
  cancel(request: CancelChargeRequest, options?: IdempotentCallOptions): ApiPromise<CancelledCharge> {
    return this.keyedPost(() => ({ path: `${PATH}/cancel`, body: checkCancellation(request) }), options);
  }

  /** Refunds the available balance of a NORMAL or GOVERNMENT wallet. Refused with CHG_007 when it is zero. */
  refund(request: RefundRequest, options?: IdempotentCallOptions): ApiPromise<Refund> {
    const body = () => {
      throwProblems([checkMemo(requireFields("(body)", request, REFUND_NAMES).memo)]);
      return request;
    };
    return this.keyedPost(() => ({ path: `${PATH}/refund`, body: body() }), options);
  }

  /** Reads a refund. */
  getRefund(refundId: string, options?: CallOptions): ApiPromise<Refund> {
    return this.read(() => `${PATH}/refund/${pathSegment("refundId", refundId, "CHG_002")}`, options);
  }

  /** Reads a charge with its cancellations. */
  get(chargeId: string, options?: CallOptions): ApiPromise<ChargeWithCancellations> {
    return this.read(() => `${PATH}/${pathSegment("chargeId", chargeId, "CHG_002")}`, options);
  }

  /** Lists charges, newest first. */
  list(query: ChargeListQuery = {}, options?: CallOptions): PagePromise<Charge> {
    return this.pages(() => ({ path: PATH, query: requireFields("(query)", query, LIST_NAMES) }), options);
  }
}

function checkCharge(request: ChargeRequest): ChargeRequest {
  const { amount, memo } = requireFields("(body)", request, CHARGE_NAMES);
  throwProblems([checkWon("amount", amount), checkMemo(memo)]);
  throwProblems([checkMinimum("amount", amount, MIN_CHARGE_WON)], "CHG_001");
  return request;
}

function checkCancellation(request: CancelChargeRequest): CancelChargeRequest {
  const { amount, memo } = requireFields("(body)", request, CANCEL_NAMES);
  const amountProblem =
    amount === undefined ? undefined : (checkWon("amount", amount) ?? checkMinimum("amount", amount, 1));
  throwProblems([amountProblem, checkMemo(memo)]);
  return request;
}
