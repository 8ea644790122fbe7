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

/** Request of `payments.create`. */
export interface PaymentRequest extends Notes {
  /** Any wallet of the payer. */
  payerWalletId: string;
  /** A NORMAL wallet of another user. */
  receiverWalletId: string;
  /** Amount in KRW, at least 100. */
  amount: number;
  /**
   * Part from the INCENTIVE wallet in KRW. 0 spends nothing of it. Without it, or with null, as much
   * as possible is spent, so undefined is refused.
   */
  incentiveAmount?: number | null;
}

/** A payment from a payer to a receiver. */
export interface Payment extends ShownNotes {
  /** Id of the payment. */
  paymentId: string;
  /** REFUNDED: refunds returned the whole amount. CANCELLED: it was cancelled at once. */
  status: "PAID" | "PARTIALLY_REFUNDED" | "REFUNDED" | "CANCELLED";
  /** Wallet of the request. */
  payerWalletId: string;
  /** Wallet that received the amount. */
  receiverWalletId: string;
  /** Amount in KRW. */
  amount: number;
  /** Part of each of the payer's wallets. */
  breakdown: {
    /** Part of the GOVERNMENT wallet in KRW. */
    government: number;
    /** Part of the INCENTIVE wallet in KRW. */
    incentive: number;
    /** Part of the NORMAL wallet in KRW. */
    normal: number;
  };
  /** Incentive in KRW that the payer got for the NORMAL part. */
  incentiveAccrued: number;
  /** Sum of the refunds in KRW. */
  refundedAmount: number;
  /** Settlement of the payment. The cancellation and each refund have their own. */
  settlement: Settlement;
  /** Null unless the payment is CANCELLED. */
  cancellation: PaymentCancellation | null;
  /** Time of the payment. */
  createdAt: string;
}

/** Cancellation of a payment. */
export interface PaymentCancellation extends Cancellation, ShownNotes {
  /** Amounts that the payer's wallets got back. */
  restored: {
    /** Amount of the INCENTIVE wallet in KRW. */
    incentive: number;
    /** Amount of the NORMAL wallet in KRW. */
    normal: number;
  };
  /** Part of the accrued incentive in KRW that was taken from the INCENTIVE wallet. */
  incentiveClawedBack: number;
  /** Part of the accrued incentive in KRW that was already spent, and reduces the NORMAL amount. */
  keptFromNormal: number;
  /** Time of the cancellation. */
  createdAt: string;
}

/** Request of `payments.cancel`. */
export interface CancelPaymentRequest extends Notes {
  /** Payment to cancel. */
  paymentId: string;
}

/** A payment after its cancellation. */
export interface CancelledPayment extends Payment {
  /** Id of the cancellation. */
  cancelId: string;
  /** The cancellation. */
  cancellation: PaymentCancellation;
  /** Amounts that the payer's wallets got back. */
  restored: {
    /** Amount of the INCENTIVE wallet in KRW. */
    incentive: number;
    /** Amount of the NORMAL wallet in KRW. */
    normal: number;
  };
  /** Part of the accrued incentive in KRW that was taken from the INCENTIVE wallet. */
  incentiveClawedBack: number;
  /** Part of the accrued incentive in KRW that was already spent, and reduces the NORMAL amount. */
  keptFromNormal: number;
}

/** A refund of a part of a payment. */
export interface PaymentRefund extends ShownNotes {
  /** Id of the refund. */
  refundId: string;
  /** Refunded part in KRW. */
  amount: number;
  /** Amounts that the payer's wallets got back. */
  restored: {
    /** Amount of the INCENTIVE wallet in KRW. */
    incentive: number;
    /** Amount of the NORMAL wallet in KRW. */
    normal: number;
  };
  /** Part of the accrued incentive in KRW that was taken from the INCENTIVE wallet. */
  incentiveClawedBack: number;
  /** Part of the accrued incentive in KRW that was already spent, and reduces the NORMAL amount. */
  keptFromNormal: number;
  /** Settlement of the refund. Read the payment again to follow it. */
  settlement: Settlement;
  /** Time of the refund. */
  createdAt: string;
}

/** A payment with its refunds. */
export interface PaymentWithRefunds extends Payment {
  /** The newest 100 refunds, oldest first. */
  refunds: PaymentRefund[];
}

/** Request of `payments.refund`. */
export interface RefundPaymentRequest extends Notes {
  /** Payment to refund. */
  paymentId: string;
  /** Part to refund in KRW, at least 1. */
  amount: number;
}

/** A payment after a refund. */
export interface RefundedPayment extends Payment {
  /** Id of this refund. */
  refundId: string;
  /** This refund. */
  refund: PaymentRefund;
}

/** Filters of `payments.list`. */
export type PaymentListQuery = PageQuery &
  MoneyFilters & {
    /** Payments from or to this wallet. Without it all payments, so undefined is refused. */
    walletId?: string;
    /** Payments in this state. */
    status?: Payment["status"];
  };

const PATH = "/api/wallets/payment";
const MIN_PAYMENT_WON = 100;
const PAYMENT_NAMES: KnownNames<PaymentRequest> = {
  payerWalletId: true,
  receiverWalletId: true,
  amount: true,
  incentiveAmount: "to spend as much of the incentive as possible",
  ...NOTE_NAMES,
};
const CANCEL_NAMES: KnownNames<CancelPaymentRequest> = { paymentId: true, ...NOTE_NAMES };
const LIST_NAMES: KnownNames<PaymentListQuery> = {
  ...PAGE_NAMES,
  ...MONEY_NAMES,
  walletId: "for all wallets",
  status: "for all states",
};
const REFUND_NAMES: KnownNames<RefundPaymentRequest> = { paymentId: true, amount: true, ...NOTE_NAMES };

/** Payments from a payer's wallets, in the order GOVERNMENT, INCENTIVE, NORMAL, to a receiver. */
export class PaymentsApi extends ApiResource {
  /** Pays from the wallets of the payer to the receiver. */
  create(request: PaymentRequest, options?: IdempotentCallOptions): ApiPromise<Payment> {
    return this.keyedPost(() => ({ path: PATH, body: checkPayment(request) }), options);
  }

  /**
   * Cancels the whole payment, once. Each of the payer's wallets gets its part back. Refused with
   * PAY_008 when a part was refunded.
   */
  cancel(request: CancelPaymentRequest, options?: IdempotentCallOptions): ApiPromise<CancelledPayment> {
    const body = () => {
      throwProblems(noteProblems(requireFields("(body)", request, CANCEL_NAMES)));
      return request;
    };
    return this.keyedPost(() => ({ path: `${PATH}/cancel`, body: body() }), options);
  }

  /**
   * Refunds a part of the payment, any number of times up to its amount. NORMAL money goes back first,
   * then INCENTIVE money. Refused with PAY_009 when less remains.
   */
  refund(request: RefundPaymentRequest, options?: IdempotentCallOptions): ApiPromise<RefundedPayment> {
    return this.keyedPost(() => ({ path: `${PATH}/refund`, body: checkRefund(request) }), options);
  }

  /** Reads a payment with its refunds. */
  get(paymentId: string, options?: CallOptions): ApiPromise<PaymentWithRefunds> {
    return this.read(() => `${PATH}/${pathSegment("paymentId", paymentId, "PAY_004")}`, options);
  }

  /**
   * Reads the payment every 1.5 seconds until the predicate is true, and resolves with the payment.
   * Retryable failures do not end the wait. After a minute it rejects with a WaitTimeoutError that
   * carries the last state.
   */
  waitFor(
    paymentId: string,
    predicate: WaitPredicate<PaymentWithRefunds>,
    options: WaitOptions = {},
  ): Promise<PaymentWithRefunds> {
    return pollUntil((callOptions) => this.get(paymentId, callOptions), predicate, options);
  }

  /** Changes the metadata of a payment. The pairs are merged, and null deletes a pair. */
  update(paymentId: string, request: UpdateMetadataRequest, options?: CallOptions): ApiPromise<Payment> {
    const path = () => `${PATH}/${pathSegment("paymentId", paymentId, "PAY_004")}`;
    return this.patch(() => ({ path: path(), body: metadataBody(request) }), options);
  }

  /** Changes the metadata of a payment's cancellation. */
  updateCancellation(
    cancelId: string,
    request: UpdateMetadataRequest,
    options?: CallOptions,
  ): ApiPromise<PaymentCancellation> {
    const path = () => `${PATH}/cancel/${pathSegment("cancelId", cancelId, "PAY_004")}`;
    return this.patch(() => ({ path: path(), body: metadataBody(request) }), options);
  }

  /** Changes the metadata of a payment's refund. */
  updateRefund(
    refundId: string,
    request: UpdateMetadataRequest,
    options?: CallOptions,
  ): ApiPromise<PaymentRefund> {
    const path = () => `${PATH}/refund/${pathSegment("refundId", refundId, "PAY_004")}`;
    return this.patch(() => ({ path: path(), body: metadataBody(request) }), options);
  }

  /** Lists payments. */
  list(query: PaymentListQuery = {}, options?: CallOptions): PagePromise<Payment> {
    return this.pages(
      () => ({ path: PATH, query: withTimes(requireFields("(query)", query, LIST_NAMES)) }),
      options,
    );
  }
}

function checkPayment(request: PaymentRequest): PaymentRequest {
  const { amount, incentiveAmount: incentive } = requireFields("(body)", request, PAYMENT_NAMES);
  const incentiveProblem =
    incentive == null
      ? undefined
      : (checkWon("incentiveAmount", incentive) ?? checkMinimum("incentiveAmount", incentive, 0));
  throwProblems([checkWon("amount", amount), incentiveProblem, ...noteProblems(request)]);
  throwProblems([checkMinimum("amount", amount, MIN_PAYMENT_WON)], "PAY_002");
  return request;
}

function checkRefund(request: RefundPaymentRequest): RefundPaymentRequest {
  const { amount } = requireFields("(body)", request, REFUND_NAMES);
  throwProblems([checkWon("amount", amount) ?? checkMinimum("amount", amount, 1), ...noteProblems(request)]);
  return request;
}
