import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { accept, asObject, atLeast, memoFits, pathId, wholeWon } from "../internal/checks.ts";
import type { Cancellation, Settlement } from "./shared.ts";

export interface PaymentRequest {
  /** One wallet of the payer. */
  payerWalletId: string;
  /** A NORMAL wallet of another user. */
  receiverWalletId: string;
  /** In KRW, at least 100. */
  amount: number;
  /** null: the whole INCENTIVE balance, as without it, which is why it cannot be given as undefined. 0: none. A number: only that much. */
  incentiveAmount?: number | null;
  /** To 200 characters. */
  memo?: string | undefined;
}

export interface Payment {
  paymentId: string;
  status: "PAID" | "CANCELLED";
  payerWalletId: string;
  receiverWalletId: string;
  amount: number;
  /** What each of the payer's wallets paid. */
  breakdown: { government: number; incentive: number; normal: number };
  /** Granted on the part paid from the NORMAL wallet. */
  incentiveAccrued: number;
  memo: string | null;
  /** The payment's own, also when it is CANCELLED. */
  settlement: Settlement;
  /** Null unless it is CANCELLED. */
  cancellation: PaymentCancellation | null;
  createdAt: string;
}

/** The cancellation of a payment and what it did. */
export interface PaymentCancellation extends Cancellation {
  /** Back to the payer's wallets. */
  restored: { incentive: number; normal: number };
  /** Of the accrual, taken from the INCENTIVE wallet. */
  incentiveClawedBack: number;
  /** Of the accrual, no longer there and so kept from the NORMAL part. */
  keptFromNormal: number;
  memo: string | null;
  createdAt: string;
}

export interface CancelPaymentRequest {
  paymentId: string;
  memo?: string | undefined;
}

export interface CancelledPayment extends Payment {
  cancelId: string;
  cancellation: PaymentCancellation;
  /** Back to the payer's wallets. */
  restored: { incentive: number; normal: number };
  /** Of the accrual, taken from the INCENTIVE wallet. */
  incentiveClawedBack: number;
  /** Of the accrual, no longer there and so kept from the NORMAL part. */
  keptFromNormal: number;
}

export type PaymentListQuery = PageQuery & { walletId?: string | undefined };

const PATH = "/api/wallets/payment";
const MIN_PAYMENT_WON = 100;

/** From a payer's wallets, in the order GOVERNMENT, INCENTIVE, NORMAL, to a receiver. */
export class PaymentsApi extends ApiResource {
  create(request: PaymentRequest, options?: IdempotentCallOptions): ApiPromise<Payment> {
    return this.move(() => ({ path: PATH, body: checkedPayment(request) }), options);
  }

  /** Whole and once: the payer's wallets get back what each of them paid. */
  cancel(request: CancelPaymentRequest, options?: IdempotentCallOptions): ApiPromise<CancelledPayment> {
    const body = () => {
      accept([memoFits(asObject("(body)", request).memo)]);
      return request;
    };
    return this.move(() => ({ path: `${PATH}/cancel`, body: body() }), options);
  }

  get(paymentId: string, options?: CallOptions): ApiPromise<Payment> {
    return this.read(() => `${PATH}/${pathId(paymentId, "PAY_004")}`, options);
  }

  list(query: PaymentListQuery = {}, options?: CallOptions): PagePromise<Payment> {
    return this.pages(() => ({ path: PATH, query: asObject("(query)", query) }), options);
  }
}

function checkedPayment(request: PaymentRequest): PaymentRequest {
  const { amount, incentiveAmount: incentive, memo } = asObject("(body)", request);
  const incentiveFits =
    incentive == null
      ? undefined
      : (wholeWon("incentiveAmount", incentive) ?? atLeast("incentiveAmount", incentive, 0));
  accept([wholeWon("amount", amount), incentiveFits, memoFits(memo)]);
  accept([atLeast("amount", amount, MIN_PAYMENT_WON)], "PAY_002");
  return request;
}
