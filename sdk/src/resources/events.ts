import type { ApiPromise, CallOptions } from "../core/call.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { pathSegment, requireFields } from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import type { ChargeWithCancellations, Refund } from "./charges.ts";
import type { ApiKey } from "./keys.ts";
import type { PaymentWithRefunds } from "./payments.ts";
import type { Payout } from "./payouts.ts";
import type { Settlement } from "./shared.ts";
import type { TransactionWithHistory } from "./transactions.ts";
import type { Transfer } from "./transfers.ts";
import type { Wallet } from "./wallets.ts";

/** An object whose settlement an event tells of. `objectId` of the event tells its kind. */
export type SettledObject = Transfer | ChargeWithCancellations | Refund | PaymentWithRefunds;

/** Money that arrived from an outside address. */
export interface Deposit {
  /** Id of the deposit. */
  depositId: string;
  /** Wallet that was credited. */
  walletId: string;
  /** Sender on the chain. */
  fromAddress: string;
  /** Amount in KRW. */
  amount: number;
  /** Settlement of the deposit, always CONFIRMED. */
  settlement: Settlement;
  /** Time of the credit. */
  createdAt: string;
}

/** A DISABLED webhook gets no events. They wait for it. */
export type WebhookStatus = "ENABLED" | "DISABLED";
/** `object`: an event of an object comes after the earlier events of the object. */
export type WebhookOrdering = "none" | "object";

/** An endpoint that gets events. */
export interface Webhook {
  /** Id of the webhook. */
  webhookId: string;
  /** Address that gets the events. */
  url: string;
  /** Types that it gets. Empty: all. */
  eventTypes: EventType[];
  /** Your own note. */
  description: string;
  /** State of the webhook. */
  status: WebhookStatus;
  /** Reason of a DISABLED webhook, or null. */
  disabledReason: "REQUESTED" | "GONE" | "FAILING" | "OPERATOR" | null;
  /** Order of its deliveries. */
  ordering: WebhookOrdering;
  /** First failed attempt since the last success, or null. */
  failingSince: string | null;
  /** Time of the creation. */
  createdAt: string;
  /** Time of the last change. */
  updatedAt: string;
}

/** The data of each type of event: the object when the event was made. */
export interface EventData {
  /** A wallet was created. */
  "wallet.created": Wallet;
  /** The metadata of a wallet changed, or its freeze ended. */
  "wallet.updated": Wallet;
  /** A wallet was deactivated. */
  "wallet.deactivated": Wallet;
  /** The token's blocklist names the wallet. */
  "wallet.frozen": Wallet;
  /** A wallet was topped up. */
  "charge.created": ChargeWithCancellations;
  /** A charge or a part of it was cancelled. */
  "charge.cancelled": ChargeWithCancellations;
  /** A whole wallet was cashed out. */
  "refund.created": Refund;
  /** A transfer started. */
  "transfer.created": Transfer;
  /** A transfer reached its receiver. */
  "transfer.completed": Transfer;
  /** A transfer failed, and its amount is available again. */
  "transfer.failed": Transfer;
  /** A payment was made. */
  "payment.created": PaymentWithRefunds;
  /** A payment was cancelled. */
  "payment.cancelled": PaymentWithRefunds;
  /** A part of a payment was refunded. */
  "payment.refunded": PaymentWithRefunds;
  /** A payout was created. */
  "payout.created": Payout;
  /** More rows of a payout have an outcome, and others wait. */
  "payout.progressed": Payout;
  /** All rows of a payout have an outcome. */
  "payout.completed": Payout;
  /** The settlement of an object is in a final block. */
  "settlement.confirmed": SettledObject;
  /** An object will not be settled on the chain. */
  "settlement.failed": SettledObject;
  /** Money from an outside address was credited. */
  "deposit.credited": Deposit;
  /** A recorded transaction has a new status. */
  "transaction.status_changed": TransactionWithHistory;
  /** An API key was issued. */
  "api_key.issued": ApiKey;
  /** An API key expires soon. */
  "api_key.expiring": ApiKey;
  /** The deliveries of a webhook fail. */
  "webhook.failing": Webhook;
  /** A webhook was disabled. */
  "webhook.disabled": Webhook;
}

/** The type of an event. A later service can send other types: ignore them. */
export type EventType = keyof EventData;

/** Fields of every event. */
export interface EventOf<Type extends EventType> {
  /** Id of the event. The same event always has the same id. */
  eventId: string;
  /** Type of the event. */
  type: Type;
  /** Place in the events of the organisation: from 1, without gaps. */
  sequence: number;
  /** Id of the object. */
  objectId: string;
  /** Place in the events of the object: from 1, without gaps. */
  objectSequence: number;
  /** Time at which it happened. */
  createdAt: string;
  /** The object when the event was made. */
  data: EventData[Type];
}

/** An event. A check of `type` narrows the type of `data`. */
export type ServiceEvent = { [Type in EventType]: EventOf<Type> }[EventType];

/** Query of `events.list`. */
export interface EventListQuery {
  /** Sequence of the last event that you handled. Without it from the oldest kept event, so undefined is refused. */
  after?: string | number;
  /** Only events of these types. Without it all types, so undefined is refused. */
  types?: EventType | EventType[];
  /** Only events of this object. Without it all objects, so undefined is refused. */
  objectId?: string;
  /** `asc`, the default: oldest first. */
  order?: "asc" | "desc" | undefined;
  /** Events of an answer, 1 to 100. Default: 20. */
  limit?: number | undefined;
  /** Seconds to wait for an event when there is none, 0 to 20. Default: 0. */
  wait?: number | undefined;
}

/** Query of `events.stream`. */
export type EventStreamQuery = Pick<EventListQuery, "after" | "types" | "objectId">;

/** A part of the events. */
export interface EventPage {
  /** The events. */
  items: ServiceEvent[];
  /** Position of the page. */
  pagination: {
    /** Maximum number of events of this page. */
    limit: number;
    /** True when there are more events now. */
    hasNext: boolean;
    /** Give it as `after` to read on. */
    nextAfter: string;
  };
}

const PATH = "/api/events";
const STREAM_LIMIT = 100;
const STREAM_WAIT_SECONDS = 20;
/** Time of an answer beyond the wait. */
const ANSWER_MS = 10_000;
const LIST_NAMES: KnownNames<EventListQuery> = {
  after: "for the oldest events",
  types: "for all types",
  objectId: "for all objects",
  order: true,
  limit: true,
  wait: true,
};
const STREAM_NAMES: KnownNames<EventStreamQuery> = {
  after: "for the oldest events",
  types: "for all types",
  objectId: "for all objects",
};

/** Events of wallets, money, records and keys, in one order. */
export class EventsApi extends ApiResource {
  /** Lists events behind `after`. `wait` lets the service wait for one. */
  list(query: EventListQuery = {}, options: CallOptions = {}): ApiPromise<EventPage> {
    return this.call(() => {
      const { types, wait, ...rest } = requireFields("(query)", query, LIST_NAMES);
      const joined = types === undefined ? {} : { types: [types].flat().join(",") };
      const given = { ...rest, ...joined, ...(wait === undefined ? {} : { wait }) };
      const timeout = wait ? { timeoutMs: options.timeoutMs ?? wait * 1_000 + ANSWER_MS } : {};
      return { method: "GET", path: PATH, query: given, repeat: "safe", options: { ...options, ...timeout } };
    });
  }

  /** Reads an event. */
  get(eventId: string, options?: CallOptions): ApiPromise<ServiceEvent> {
    return this.read(() => `${PATH}/${pathSegment("eventId", eventId, "EVT_001")}`, options);
  }

  /**
   * Yields the events behind `after` and then each new one, until the caller leaves the loop or
   * `signal` aborts. Store the `sequence` of the last handled event, to go on with it as `after`.
   * EVT_002 when events after `after` have been deleted.
   */
  async *stream(
    query: EventStreamQuery = {},
    options?: CallOptions,
  ): AsyncGenerator<ServiceEvent, void, undefined> {
    const filters = requireFields("(query)", query, STREAM_NAMES);
    let position: Pick<EventListQuery, "after"> = {};
    for (;;) {
      const wanted = { ...filters, ...position, limit: STREAM_LIMIT, wait: STREAM_WAIT_SECONDS };
      const { items, pagination } = await this.list(wanted, options);
      yield* items;
      position = { after: pagination.nextAfter };
    }
  }
}
