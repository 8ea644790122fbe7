import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { NetworkType } from "../core/network.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import {
  checkAddress,
  checkFuture,
  checkTime,
  checkTxHash,
  checkUnits,
  pathSegment,
  requireFields,
  throwProblems,
} from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import { pollUntil, type WaitOptions, type WaitPredicate } from "../internal/pollUntil.ts";
import type { Transport } from "../internal/transport.ts";
import {
  metadataBody,
  NOTE_NAMES,
  noteProblems,
  type Notes,
  type ShownNotes,
  type UpdateMetadataRequest,
} from "./notes.ts";
import { type Moment, PAGE_NAMES, toIsoString, withTimes } from "./shared.ts";

/** INSTANT: the transaction is already on the chain. SCHEDULED: it is due later. */
export const TxPaymentType = {
  /** The transaction is already on the chain. */
  INSTANT: "INSTANT",
  /** The transaction is due later. */
  SCHEDULED: "SCHEDULED",
} as const;
/** INSTANT or SCHEDULED. */
export type TxPaymentType = (typeof TxPaymentType)[keyof typeof TxPaymentType];

/** States of a record. CONFIRMED and FAILED are final. */
export const TransactionStatus = {
  /** Not final yet. */
  PENDING: "PENDING",
  /** The transaction succeeded. */
  CONFIRMED: "CONFIRMED",
  /** The transaction failed. */
  FAILED: "FAILED",
} as const;
/** State of a record. */
export type TransactionStatus = (typeof TransactionStatus)[keyof typeof TransactionStatus];

interface TransactionFields extends Notes {
  /** Network of the sender. Default: the client's network. */
  fromNetworkType?: NetworkType;
  /** Network of the receiver. Default: fromNetworkType. */
  toNetworkType?: NetworkType;
  /** Address of the sender. */
  fromAddress: string;
  /** Address of the receiver. */
  toAddress: string;
  /** Integer string in the token's smallest unit: see `toUnits`. */
  amount: string;
  /** Integer string in the token's smallest unit. */
  fee?: string | undefined;
}

/** A record of a transaction that is already on the chain. */
export interface InstantTransactionRequest extends TransactionFields {
  /** Always INSTANT. */
  paymentType: "INSTANT";
  /** Hash of the transaction: 0x and 64 hex digits. */
  txHash: string;
  /** Absent in an INSTANT record. */
  scheduledAt?: undefined;
}

/** A transaction that is due later, within a single network. */
export interface ScheduledTransactionRequest extends TransactionFields {
  /** Always SCHEDULED. */
  paymentType: "SCHEDULED";
  /** Due time, in the future. */
  scheduledAt: Moment;
  /** Absent in a SCHEDULED record. */
  txHash?: undefined;
}

/** Request of `transactions.create`. */
export type TransactionCreateRequest = InstantTransactionRequest | ScheduledTransactionRequest;

/** A recorded transaction. */
export interface TransactionResponse extends ShownNotes {
  /** Id of the record. */
  id: string;
  /** Network of the sender. */
  fromNetworkType: NetworkType;
  /** Network of the receiver. */
  toNetworkType: NetworkType;
  /** INSTANT or SCHEDULED. */
  paymentType: TxPaymentType;
  /** Address of the sender. */
  fromAddress: string;
  /** Address of the receiver. */
  toAddress: string;
  /** Hash of the transaction, or null before it is known. */
  txHash: string | null;
  /** Integer string in the token's smallest unit: see `formatUnits`. */
  amount: string;
  /** Integer string in the token's smallest unit. */
  fee: string | null;
  /** Due time of a SCHEDULED record. */
  scheduledAt: string | null;
  /** State of the record. */
  status: TransactionStatus;
  /** Reason of a FAILED record, else null. */
  failureReason: string | null;
  /** Time of the creation. */
  createdAt: string;
  /** Time of the last change. */
  updatedAt: string;
}

/** A change in the history of a record. */
export interface TransactionChange {
  /** State after the change. */
  status: TransactionStatus;
  /** Due time after the change. */
  scheduledAt: string | null;
  /** `not_seen_on_chain`, `sent_as_` with the transfer's id, or the reason of FAILED. */
  reason: string | null;
  /** API: your request. CHAIN: a final block. SCHEDULER: the service at the due time. */
  changedBy: "API" | "CHAIN" | "SCHEDULER";
  /** Time of the change. */
  changedAt: string;
}

/** A record with its history. */
export interface TransactionWithHistory extends TransactionResponse {
  /** The newest 100 changes, oldest first. */
  history: TransactionChange[];
}

/** Filters of `transactions.list`. An undefined filter is refused, because it would list all records. */
export type TransactionListQuery = PageQuery & {
  /** Records in this state. */
  status?: TransactionStatus;
  /** Records of this type. */
  paymentType?: TxPaymentType;
  /** Records with this sender or receiver. */
  address?: string;
  /** Start of the creation time, inclusive. */
  from?: Moment;
  /** End of the creation time, exclusive. */
  to?: Moment;
  /** Records with exactly this reference. */
  reference?: string;
  /** Amounts of at least this, as an integer string in the token's smallest unit. */
  minAmount?: string;
  /** Amounts of at most this, as an integer string in the token's smallest unit. */
  maxAmount?: string;
  /** asc: oldest first. Default: desc, newest first. */
  order?: "asc" | "desc" | undefined;
};

/** Request of `transactions.updateStatus`. */
export type TransactionStatusRequest =
  | {
      /** The new state. */
      status: "PENDING" | "CONFIRMED";
      /** Absent: only FAILED has a reason. */
      failureReason?: undefined;
    }
  | {
      /** The new state. */
      status: "FAILED";
      /** Reason of the failure. */
      failureReason?: string | undefined;
    };

/** Request of `transactions.updateSchedule`. */
export interface TransactionScheduleRequest {
  /** The new due time, in the future. */
  scheduledAt: Moment;
}

/** Returns true when the awaited state is reached. May be asynchronous. */
export type TransactionPredicate = WaitPredicate<TransactionWithHistory>;

const PATH = "/api/transaction";
const CREATE_NAMES: KnownNames<TransactionCreateRequest> = {
  paymentType: true,
  fromNetworkType: "to use the client's network",
  toNetworkType: "to use fromNetworkType",
  fromAddress: true,
  toAddress: true,
  amount: true,
  fee: true,
  ...NOTE_NAMES,
  txHash: true,
  scheduledAt: true,
};
const STATUS_NAMES: KnownNames<TransactionStatusRequest> = { status: true, failureReason: true };
const SCHEDULE_NAMES: KnownNames<TransactionScheduleRequest> = { scheduledAt: true };
const LIST_NAMES: KnownNames<TransactionListQuery> = {
  ...PAGE_NAMES,
  status: "for all states",
  paymentType: "for all types",
  address: "for all addresses",
  from: "to start at the oldest",
  to: "to end at the newest",
  reference: "for all references",
  minAmount: "for all amounts",
  maxAmount: "for all amounts",
  order: true,
};

/** Records of on-chain transactions. */
export class TransactionsApi extends ApiResource {
  readonly #network: NetworkType;

  constructor(transport: Transport, network: NetworkType) {
    super(transport);
    this.#network = network;
  }

  /**
   * Records a transaction. Each txHash is recorded once per network. A second record is refused with
   * TX_002, and `details.id` names the first. The idempotency key prevents a second record, so a
   * SCHEDULED transaction is executed once.
   */
  create(
    request: TransactionCreateRequest,
    options?: IdempotentCallOptions,
  ): ApiPromise<TransactionResponse> {
    return this.keyedPost(
      () => ({ path: PATH, body: checkTransaction(request, this.#network, options) }),
      options,
    );
  }

  /** Reads a record with its history. */
  get(id: string, options?: CallOptions): ApiPromise<TransactionWithHistory> {
    return this.read(() => recordPath(id), options);
  }

  /** Lists records. */
  list(query: TransactionListQuery = {}, options?: CallOptions): PagePromise<TransactionResponse> {
    return this.pages(
      () => ({ path: PATH, query: withTimes(requireFields("(query)", query, LIST_NAMES)) }),
      options,
    );
  }

  /** Changes the metadata of a record. The pairs are merged, and null deletes a pair. */
  update(id: string, request: UpdateMetadataRequest, options?: CallOptions): ApiPromise<TransactionResponse> {
    return this.patch(() => ({ path: recordPath(id), body: metadataBody(request) }), options);
  }

  /** Sets a PENDING record to CONFIRMED or FAILED, which are final. A repetition changes nothing. */
  updateStatus(
    id: string,
    request: TransactionStatusRequest,
    options?: CallOptions,
  ): ApiPromise<TransactionResponse> {
    return this.patch(
      () => ({ path: `${recordPath(id)}/status`, body: requireFields("(body)", request, STATUS_NAMES) }),
      options,
    );
  }

  /** Changes the due time of a SCHEDULED, PENDING record. */
  updateSchedule(
    id: string,
    request: TransactionScheduleRequest,
    options?: CallOptions,
  ): ApiPromise<TransactionResponse> {
    const body = () => {
      const scheduledAt = toIsoString(requireFields("(body)", request, SCHEDULE_NAMES).scheduledAt);
      // A past time is accepted: the call may repeat an earlier change.
      throwProblems([checkTime("scheduledAt", scheduledAt)]);
      return { scheduledAt };
    };
    return this.patch(() => ({ path: `${recordPath(id)}/schedule`, body: body() }), options);
  }

  /**
   * Reads the record every 1.5 seconds until the predicate is true, and resolves with the record.
   * Retryable failures do not end the wait. After a minute it rejects with a WaitTimeoutError that
   * carries the last state.
   */
  waitForStatus(
    id: string,
    predicate: TransactionPredicate,
    options: WaitOptions = {},
  ): Promise<TransactionWithHistory> {
    return pollUntil((callOptions) => this.get(id, callOptions), predicate, options);
  }
}

function recordPath(id: string): string {
  return `${PATH}/${pathSegment("id", id, "TX_001")}`;
}

function checkTransaction(
  request: TransactionCreateRequest,
  network: NetworkType,
  options: IdempotentCallOptions | undefined,
): object {
  const { fromNetworkType = network, toNetworkType = fromNetworkType } = requireFields(
    "(body)",
    request,
    CREATE_NAMES,
  );
  const { fromAddress, toAddress, amount, fee } = request;
  const scheduledAt = toIsoString(request.scheduledAt);
  const body = {
    ...request,
    fromNetworkType,
    toNetworkType,
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
  };
  throwProblems([
    checkAddress("fromAddress", fromAddress),
    checkAddress("toAddress", toAddress),
    checkUnits("amount", amount),
    fee === undefined ? undefined : checkUnits("fee", fee),
    ...noteProblems(request),
    ...checkPaymentType({ ...body, scheduledAt }, { mayBeRepetition: options?.idempotencyKey !== undefined }),
  ]);
  return body;
}

/** Loosely typed, because callers in plain JavaScript make these mistakes too. */
function checkPaymentType(
  body: {
    paymentType: unknown;
    txHash?: unknown;
    scheduledAt?: unknown;
    fromNetworkType: NetworkType;
    toNetworkType: NetworkType;
  },
  { mayBeRepetition }: { mayBeRepetition: boolean },
) {
  const { paymentType, txHash, scheduledAt, fromNetworkType, toNetworkType } = body;
  switch (paymentType) {
    case "INSTANT":
      return [checkTxHash("txHash", txHash)];
    case "SCHEDULED": {
      const message = "must equal fromNetworkType in a SCHEDULED transaction";
      const isOneNetwork = fromNetworkType === toNetworkType;
      return [
        // With a caller's key this may repeat an earlier call, so the time may be past.
        mayBeRepetition ? checkTime("scheduledAt", scheduledAt) : checkFuture("scheduledAt", scheduledAt),
        isOneNetwork ? undefined : { path: "toNetworkType", message },
      ];
    }
    default:
      return [{ path: "paymentType", message: "must be INSTANT or SCHEDULED" }];
  }
}
