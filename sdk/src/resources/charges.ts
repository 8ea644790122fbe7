import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { accept, asObject, atLeast, memoFits, pathId, wholeWon } from "../internal/checks.ts";
import type { Cancellation, Settlement } from "./shared.ts";

export interface ChargeRequest {
  walletId: string;
  /** In KRW, at least 1,000. */
  amount: number;
  /** To 200 characters. */
  memo?: string | undefined;
}

export interface Charge {
  chargeId: string;
  status: "CHARGED" | "PARTIALLY_CANCELLED" | "CANCELLED";
  walletId: string;
  amount: number;
  cancelledAmount: number;
  /** The wallet's balance right after the charge, or after its newest cancellation once it is cancelled in part. */
  balance: number;
  /** 30 days after the charge. */
  cancellableUntil: string;
  memo: string | null;
  /** The charge's own, also when it is cancelled. */
  settlement: Settlement;
  createdAt: string;
}

export interface ChargeCancellation extends Cancellation {
  amount: number;
  memo: string | null;
  createdAt: string;
}

export interface ChargeWithCancellations extends Charge {
  /** Oldest first; of more than 100 the newest. */
  cancellations: ChargeCancellation[];
}

export interface CancelChargeRequest {
  chargeId: string;
  /** Without it all that remains, which is why it cannot be given as undefined. */
  amount?: number;
  memo?: string | undefined;
}

export interface CancelledCharge extends Charge {
  cancelId: string;
  cancellation: Cancellation;
}

export interface RefundRequest {
  /** The NORMAL wallet to empty. */
  walletId: string;
  memo?: string | undefined;
}

export interface Refund {
  refundId: string;
  walletId: string;
  /** All that was available, in KRW. */
  amount: number;
  memo: string | null;
  settlement: Settlement;
  createdAt: string;
}

export type ChargeListQuery = PageQuery & { walletId?: string | undefined };

const PATH = "/api/wallets/charge";
const MIN_CHARGE_WON = 1_000;

/** Top-ups, their cancellation, and refunds. */
export class ChargesApi extends ApiResource {
  create(request: ChargeRequest, options?: IdempotentCallOptions): ApiPromise<Charge> {
    return this.move(() => ({ path: PATH, body: checkedCharge(request) }), options);
  }

  /** Within 30 days of the charge, in as many parts as you like. */
  cancel(request: CancelChargeRequest, options?: IdempotentCallOptions): ApiPromise<CancelledCharge> {
    return this.move(() => ({ path: `${PATH}/cancel`, body: checkedCancellation(request) }), options);
  }

  /** Refunds the whole available balance of a NORMAL or GOVERNMENT wallet. CHG_007 when nothing is available. */
  refund(request: RefundRequest, options?: IdempotentCallOptions): ApiPromise<Refund> {
    const body = () => {
      accept([memoFits(asObject("(body)", request).memo)]);
      return request;
    };
    return this.move(() => ({ path: `${PATH}/refund`, body: body() }), options);
  }

  getRefund(refundId: string, options?: CallOptions): ApiPromise<Refund> {
    return this.read(() => `${PATH}/refund/${pathId(refundId, "CHG_002")}`, options);
  }

  get(chargeId: string, options?: CallOptions): ApiPromise<ChargeWithCancellations> {
    return this.read(() => `${PATH}/${pathId(chargeId, "CHG_002")}`, options);
  }

  list(query: ChargeListQuery = {}, options?: CallOptions): PagePromise<Charge> {
    return this.pages(() => ({ path: PATH, query: asObject("(query)", query) }), options);
  }
}

function checkedCharge(request: ChargeRequest): ChargeRequest {
  const { amount, memo } = asObject("(body)", request);
  accept([wholeWon("amount", amount), memoFits(memo)]);
  accept([atLeast("amount", amount, MIN_CHARGE_WON)], "CHG_001");
  return request;
}

function checkedCancellation(request: CancelChargeRequest): CancelChargeRequest {
  const { amount, memo } = asObject("(body)", request);
  const amountFits =
    amount === undefined ? undefined : (wholeWon("amount", amount) ?? atLeast("amount", amount, 1));
  accept([amountFits, memoFits(memo)]);
  return request;
}
