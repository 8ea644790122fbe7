import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { NetworkType } from "../core/network.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import {
  accept,
  asObject,
  isAddress,
  isInFuture,
  isMoment,
  isTxHash,
  isUnits,
  memoFits,
  pathId,
} from "../internal/checks.ts";
import type { Transport } from "../internal/transport.ts";
import { waitUntil, type WaitOptions } from "../internal/waitUntil.ts";
import { type Moment, momentText } from "./shared.ts";

/** INSTANT: it is on the chain already. SCHEDULED: it is due later. */
export const TxPaymentType = { INSTANT: "INSTANT", SCHEDULED: "SCHEDULED" } as const;
export type TxPaymentType = (typeof TxPaymentType)[keyof typeof TxPaymentType];

export const TransactionStatus = { PENDING: "PENDING", CONFIRMED: "CONFIRMED", FAILED: "FAILED" } as const;
export type TransactionStatus = (typeof TransactionStatus)[keyof typeof TransactionStatus];

interface TransactionFields {
  /** The client's network unless given. */
  fromNetworkType?: NetworkType | undefined;
  /** As fromNetworkType unless given. */
  toNetworkType?: NetworkType | undefined;
  fromAddress: string;
  toAddress: string;
  /** In the token's smallest unit, as an integer string: see `toUnits`. */
  amount: string;
  /** As amount. */
  fee?: string | undefined;
  /** To 200 characters. */
  memo?: string | undefined;
}

export interface InstantTransactionRequest extends TransactionFields {
  paymentType: "INSTANT";
  txHash: string;
  scheduledAt?: undefined;
}

/** Within one network. */
export interface ScheduledTransactionRequest extends TransactionFields {
  paymentType: "SCHEDULED";
  /** In the future. */
  scheduledAt: Moment;
  txHash?: undefined;
}

export type TransactionCreateRequest = InstantTransactionRequest | ScheduledTransactionRequest;

export interface TransactionResponse {
  id: string;
  fromNetworkType: NetworkType;
  toNetworkType: NetworkType;
  paymentType: TxPaymentType;
  fromAddress: string;
  toAddress: string;
  txHash: string | null;
  /** In the token's smallest unit: see `formatUnits`. */
  amount: string;
  fee: string | null;
  memo: string | null;
  scheduledAt: string | null;
  status: TransactionStatus;
  failureReason: string | null;
  createdAt: string;
  updatedAt: string;
}

/** One change of a record: what it became, why, when, and by whom. */
export interface TransactionChange {
  status: TransactionStatus;
  /** When it is due since then. */
  scheduledAt: string | null;
  /** `not_seen_on_chain`, `sent_as_` with the transfer's id, or why it FAILED. */
  reason: string | null;
  /** API: a request of yours. CHAIN: a final block. SCHEDULER: the service, when it was due. */
  changedBy: "API" | "CHAIN" | "SCHEDULER";
  changedAt: string;
}

export interface TransactionWithHistory extends TransactionResponse {
  /** Oldest first; of more than 100 changes the newest. */
  history: TransactionChange[];
}

export type TransactionListQuery = PageQuery & {
  status?: TransactionStatus | undefined;
  paymentType?: TxPaymentType | undefined;
  /** Sender or recipient. */
  address?: string | undefined;
  /** Recorded not before this moment. */
  from?: Moment | undefined;
  /** Recorded before this moment. */
  to?: Moment | undefined;
};

/** A reason goes with FAILED only. */
export type TransactionStatusRequest =
  | { status: "PENDING" | "CONFIRMED"; failureReason?: undefined }
  | { status: "FAILED"; failureReason?: string | undefined };

export interface TransactionScheduleRequest {
  /** The new time, in the future. */
  scheduledAt: Moment;
}

/** True when the awaited state is reached. May be asynchronous. */
export type TransactionPredicate = (transaction: TransactionWithHistory) => boolean | PromiseLike<boolean>;

const PATH = "/api/transaction";

/** Records of on-chain transactions. */
export class TransactionsApi extends ApiResource {
  readonly #network: NetworkType;

  constructor(transport: Transport, network: NetworkType) {
    super(transport);
    this.#network = network;
  }

  /**
   * Records a transaction. A txHash is recorded once for each network: a second is refused with TX_002, and `details.id` names the first.
   * The call's idempotency key makes one record however often it is sent, so a SCHEDULED one is executed once.
   */
  create(
    request: TransactionCreateRequest,
    options?: IdempotentCallOptions,
  ): ApiPromise<TransactionResponse> {
    return this.move(
      () => ({ path: PATH, body: checkedTransaction(request, this.#network, options) }),
      options,
    );
  }

  /** With what became of it so far. */
  get(id: string, options?: CallOptions): ApiPromise<TransactionWithHistory> {
    return this.read(() => recordPath(id), options);
  }

  /** Newest first. */
  list(query: TransactionListQuery = {}, options?: CallOptions): PagePromise<TransactionResponse> {
    const wanted = () => {
      const { from, to, ...rest } = asObject("(query)", query);
      return { ...rest, from: momentText(from), to: momentText(to) };
    };
    return this.pages(() => ({ path: PATH, query: wanted() }), options);
  }

  /** From PENDING to CONFIRMED or FAILED, which are final. The same status again changes nothing. */
  updateStatus(
    id: string,
    request: TransactionStatusRequest,
    options?: CallOptions,
  ): ApiPromise<TransactionResponse> {
    return this.patch(
      () => ({ path: `${recordPath(id)}/status`, body: asObject("(body)", request) }),
      options,
    );
  }

  /** Changes when a SCHEDULED, PENDING transaction is due. */
  updateSchedule(
    id: string,
    request: TransactionScheduleRequest,
    options?: CallOptions,
  ): ApiPromise<TransactionResponse> {
    const body = () => {
      const scheduledAt = momentText(asObject("(body)", request).scheduledAt);
      // It may be a repeat of a change that was made when its time was still to come.
      accept([isMoment("scheduledAt", scheduledAt)]);
      return { scheduledAt };
    };
    return this.patch(() => ({ path: `${recordPath(id)}/schedule`, body: body() }), options);
  }

  /**
   * Reads the transaction every 1.5 seconds until the predicate is true of it, and answers with it. Failures that may pass are waited out;
   * after a minute it rejects with a WaitTimeoutError that carries the last state.
   */
  waitForStatus(
    id: string,
    predicate: TransactionPredicate,
    options: WaitOptions = {},
  ): Promise<TransactionWithHistory> {
    return waitUntil((callOptions) => this.get(id, callOptions), predicate, options);
  }
}

function recordPath(id: string): string {
  return `${PATH}/${pathId(id, "TX_001")}`;
}

function checkedTransaction(
  request: TransactionCreateRequest,
  network: NetworkType,
  options: IdempotentCallOptions | undefined,
): object {
  const { fromNetworkType = network, toNetworkType = fromNetworkType } = asObject("(body)", request);
  const { fromAddress, toAddress, amount, fee, memo } = request;
  const scheduledAt = momentText(request.scheduledAt);
  const body = {
    ...request,
    fromNetworkType,
    toNetworkType,
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
  };
  accept([
    isAddress("fromAddress", fromAddress),
    isAddress("toAddress", toAddress),
    isUnits("amount", amount),
    fee === undefined ? undefined : isUnits("fee", fee),
    memoFits(memo),
    ...checksOfType({ ...body, scheduledAt }, { mayBeRepeated: options?.idempotencyKey !== undefined }),
  ]);
  return body;
}

/** Typed loosely: callers without the compiler make these mistakes too. */
function checksOfType(
  body: {
    paymentType: unknown;
    txHash?: unknown;
    scheduledAt?: unknown;
    fromNetworkType: NetworkType;
    toNetworkType: NetworkType;
  },
  { mayBeRepeated }: { mayBeRepeated: boolean },
) {
  const { paymentType, txHash, scheduledAt, fromNetworkType, toNetworkType } = body;
  switch (paymentType) {
    case "INSTANT":
      return [isTxHash("txHash", txHash)];
    case "SCHEDULED": {
      const message = "must equal fromNetworkType in a SCHEDULED transaction";
      const isOneNetwork = fromNetworkType === toNetworkType;
      return [
        // Under a key of the caller's own it may have been recorded already, when its time was still to come.
        mayBeRepeated ? isMoment("scheduledAt", scheduledAt) : isInFuture("scheduledAt", scheduledAt),
        isOneNetwork ? undefined : { path: "toNetworkType", message },
      ];
    }
    default:
      return [{ path: "paymentType", message: "must be INSTANT or SCHEDULED" }];
  }
}
