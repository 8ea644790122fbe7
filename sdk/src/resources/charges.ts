import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { checkMinimum, checkWon, pathSegment, requireFields, throwProblems } from "../internal/checks.ts";
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
import {
  type Cancellation,
  MONEY_NAMES,
  type MoneyFilters,
  PAGE_NAMES,
  type Settlement,
  withTimes,
} from "./shared.ts";

/** Request of `charges.create`. */
export interface ChargeRequest extends Notes {
  /** Wallet to top up. */
  walletId: string;
  /** Amount in KRW, at least 1,000. */
  amount: number;
}

/** A top-up of a wallet. */
export interface Charge extends ShownNotes {
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
  /** Settlement of the charge. Cancellations have their own. */
  settlement: Settlement;
  /** Time of the charge. */
  createdAt: string;
}

/** A cancellation of a charge or of a part of it. */
export interface ChargeCancellation extends Cancellation, ShownNotes {
  /** Cancelled amount in KRW. */
  amount: number;
  /** Time of the cancellation. */
  createdAt: string;
}

/** A charge with its cancellations. */
export interface ChargeWithCancellations extends Charge {
  /** The newest 100 cancellations, oldest first. */
  cancellations: ChargeCancellation[];
}

/** Request of `charges.cancel`. */
export interface CancelChargeRequest extends Notes {
  /** Charge to cancel. */
  chargeId: string;
  /** Amount in KRW. Without it the whole rest is cancelled, so undefined is refused. */
  amount?: number;
}

/** A charge after a cancellation. */
export interface CancelledCharge extends Charge {
  /** Id of this cancellation. */
  cancelId: string;
  /** This cancellation. */
  cancellation: ChargeCancellation;
}

/** Request of `charges.refund`. */
export interface RefundRequest extends Notes {
  /** The NORMAL wallet to empty. */
  walletId: string;
}

/** A cash-out of a whole wallet. */
export interface Refund extends ShownNotes {
  /** Id of the refund. */
  refundId: string;
  /** Wallet that was emptied. */
  walletId: string;
  /** Refunded amount in KRW: the available balance at that time. */
  amount: number;
  /** Settlement of the refund. */
  settlement: Settlement;
  /** Time of the refund. */
  createdAt: string;
}

/** Filters of `charges.list`. */
export type ChargeListQuery = PageQuery &
  MoneyFilters & {
    /** Charges of this wallet. Without it all charges, so undefined is refused. */
    walletId?: string;
    /** Charges in this state. */
    status?: Charge["status"];
  };

/** Filters of `charges.listRefunds`. */
export type RefundListQuery = PageQuery &
  MoneyFilters & {
    /** Refunds of this wallet. Without it all refunds, so undefined is refused. */
    walletId?: string;
  };

const PATH = "/api/wallets/charge";
const MIN_CHARGE_WON = 1_000;
const CHARGE_NAMES: KnownNames<ChargeRequest> = { walletId: true, amount: true, ...NOTE_NAMES };
const CANCEL_NAMES: KnownNames<CancelChargeRequest> = {
  chargeId: true,
  amount: "to cancel the whole rest",
  ...NOTE_NAMES,
};
const REFUND_NAMES: KnownNames<RefundRequest> = { walletId: true, ...NOTE_NAMES };
const LIST_NAMES: KnownNames<ChargeListQuery> = {
  ...PAGE_NAMES,
  ...MONEY_NAMES,
  walletId: "for all wallets",
  status: "for all states",
};
const REFUND_LIST_NAMES: KnownNames<RefundListQuery> = {
  ...PAGE_NAMES,
  ...MONEY_NAMES,
  walletId: "for all wallets",
};

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
      throwProblems(noteProblems(requireFields("(body)", request, REFUND_NAMES)));
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

  /**
   * Reads the charge every 1.5 seconds until the predicate is true, and resolves with the charge.
   * Retryable failures do not end the wait. After a minute it rejects with a WaitTimeoutError that
   * carries the last state.
   */
  waitFor(
    chargeId: string,
    predicate: WaitPredicate<ChargeWithCancellations>,
    options: WaitOptions = {},
  ): Promise<ChargeWithCancellations> {
    return pollUntil((callOptions) => this.get(chargeId, callOptions), predicate, options);
  }

  /** Changes the metadata of a charge. The pairs are merged, and null deletes a pair. */
  update(
    chargeId: string,
    request: UpdateMetadataRequest,
    options?: CallOptions,
  ): ApiPromise<ChargeWithCancellations> {
    const path = () => `${PATH}/${pathSegment("chargeId", chargeId, "CHG_002")}`;
    return this.patch(() => ({ path: path(), body: metadataBody(request) }), options);
  }

  /** Changes the metadata of a charge's cancellation. */
  updateCancellation(
    cancelId: string,
    request: UpdateMetadataRequest,
    options?: CallOptions,
  ): ApiPromise<ChargeCancellation> {
    const path = () => `${PATH}/cancel/${pathSegment("cancelId", cancelId, "CHG_002")}`;
    return this.patch(() => ({ path: path(), body: metadataBody(request) }), options);
  }

  /** Changes the metadata of a refund. */
  updateRefund(refundId: string, request: UpdateMetadataRequest, options?: CallOptions): ApiPromise<Refund> {
    const path = () => `${PATH}/refund/${pathSegment("refundId", refundId, "CHG_002")}`;
    return this.patch(() => ({ path: path(), body: metadataBody(request) }), options);
  }

  /** Lists refunds. */
  listRefunds(query: RefundListQuery = {}, options?: CallOptions): PagePromise<Refund> {
    return this.pages(
      () => ({
        path: `${PATH}/refund`,
        query: withTimes(requireFields("(query)", query, REFUND_LIST_NAMES)),
      }),
      options,
    );
  }

  /** Lists charges. */
  list(query: ChargeListQuery = {}, options?: CallOptions): PagePromise<Charge> {
    return this.pages(
      () => ({ path: PATH, query: withTimes(requireFields("(query)", query, LIST_NAMES)) }),
      options,
    );
  }
}

function checkCharge(request: ChargeRequest): ChargeRequest {
  const { amount } = requireFields("(body)", request, CHARGE_NAMES);
  throwProblems([checkWon("amount", amount), ...noteProblems(request)]);
  throwProblems([checkMinimum("amount", amount, MIN_CHARGE_WON)], "CHG_001");
  return request;
}

function checkCancellation(request: CancelChargeRequest): CancelChargeRequest {
  const { amount } = requireFields("(body)", request, CANCEL_NAMES);
  const amountProblem =
    amount === undefined ? undefined : (checkWon("amount", amount) ?? checkMinimum("amount", amount, 1));
  throwProblems([amountProblem, ...noteProblems(request)]);
  return request;
}
