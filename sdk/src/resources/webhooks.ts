import type { ApiPromise, CallOptions, IdempotentCallOptions } from "../core/call.ts";
import type { PagePromise, PageQuery } from "../core/page.ts";
import { ApiResource } from "../internal/apiResource.ts";
import { pathSegment, requireFields } from "../internal/checks.ts";
import type { KnownNames } from "../internal/names.ts";
import { unwrapWebhook, type WebhookHeaders } from "../internal/unwrapWebhook.ts";
import type { EventType, ServiceEvent, Webhook, WebhookOrdering, WebhookStatus } from "./events.ts";
import { PAGE_NAMES } from "./shared.ts";

/** A new webhook. */
export interface CreatedWebhook extends Webhook {
  /** Secret for `webhooks.unwrap`. It is not shown again. */
  secret: string;
}

/** A webhook with a new secret. */
export interface RotatedWebhook extends CreatedWebhook {
  /** Time until which the secret before signs too. */
  previousSecretEndsAt: string;
}

/** Request of `webhooks.create`. */
export interface CreateWebhookRequest {
  /** An https address that leads to no private network. */
  url: string;
  /** Types to get. Without it all types, so undefined is refused. */
  eventTypes?: EventType[];
  /** At most 500 characters. */
  description?: string | undefined;
  /** Default: ENABLED. */
  status?: WebhookStatus | undefined;
  /** Default: none. */
  ordering?: WebhookOrdering | undefined;
  /** All events after this sequence are sent. Default: only events from now on. */
  after?: string | undefined;
}

/** Request of `webhooks.update`. Absent fields stay as they are. */
export interface UpdateWebhookRequest {
  /** An https address that leads to no private network. */
  url?: string | undefined;
  /** Types to get. Empty: all. */
  eventTypes?: EventType[] | undefined;
  /** At most 500 characters. */
  description?: string | undefined;
  /** ENABLED sends the events that waited. */
  status?: WebhookStatus | undefined;
  /** Order of the deliveries. */
  ordering?: WebhookOrdering | undefined;
}

/** Request of `webhooks.rotateSecret`. */
export interface RotateSecretRequest {
  /** Seconds for which the secret before signs too, at most 604,800. Default: a day. */
  overlapSeconds?: number | undefined;
}

/** Request of `webhooks.replay`: the events of a range, or the failed deliveries. */
export type ReplayWebhookRequest =
  | {
      /** Events after this sequence. */
      after: string;
      /** Up to this sequence. */
      upTo: string;
    }
  | {
      /** The deliveries that FAILED, and those that pause after a failed attempt. */
      failed: true;
    };

/** Answer of `webhooks.delete`. */
export interface DeletedWebhook {
  /** Always true. */
  deleted: true;
}

/** Answer of `webhooks.replay`. */
export interface ReplayedWebhook {
  /** Number of deliveries that follow. */
  deliveries: number;
}

/** An event on its way to an endpoint. */
export interface Delivery {
  /** Id of the delivery. */
  deliveryId: string;
  /** Id of the event, which the header `webhook-id` has. */
  eventId: string;
  /** Type of the event, or webhook.test. */
  eventType: string;
  /** Sequence of the event, or null for a test. */
  sequence: number | null;
  /** FAILED: no attempt is left. */
  status: "PENDING" | "DELIVERED" | "FAILED";
  /** Time of the next attempt, or null. */
  nextAttemptAt: string | null;
  /** Time at which the delivery was made. */
  createdAt: string;
  /** Time of the end, or null. */
  finishedAt: string | null;
  /** Attempts, oldest first. */
  attempts: DeliveryAttempt[];
}

/** An attempt of a delivery. */
export interface DeliveryAttempt {
  /** From 1. */
  number: number;
  /** Start of the attempt. */
  startedAt: string;
  /** Duration in milliseconds. */
  durationMs: number;
  /** Method, path and headers of the request. Its body is the event. Null when the event was no longer kept. */
  requestHead: string | null;
  /** Status of the answer, or null without one. */
  statusCode: number | null;
  /** Status, headers and beginning of the answer, or null. */
  responseHead: string | null;
  /** Why it failed, or null. */
  error: string | null;
}

/** The event that `webhooks.test` sends. It is in no list of events. */
export interface WebhookTestEvent {
  /** Id of the event, as the header `webhook-id` has it. */
  eventId: string;
  /** Type of the event. */
  type: "webhook.test";
  /** Always 0. */
  sequence: number;
  /** Id of the webhook. */
  objectId: string;
  /** Always 0. */
  objectSequence: number;
  /** Time of the test. */
  createdAt: string;
  /** The webhook. */
  data: {
    /** Id of the webhook. */
    webhookId: string;
  };
}

/** Filters of `webhooks.listDeliveries`. */
export type DeliveryListQuery = PageQuery & {
  /** Deliveries with this status. Without it all, so undefined is refused. */
  status?: Delivery["status"];
};

const PATH = "/api/webhooks";
const CREATE_NAMES: KnownNames<CreateWebhookRequest> = {
  ...{ url: true, eventTypes: "for all types", description: true, status: true, ordering: true },
  after: true,
};
const UPDATE_NAMES: KnownNames<UpdateWebhookRequest> = {
  ...{ url: true, eventTypes: true, description: true, status: true, ordering: true },
};
const ROTATE_NAMES: KnownNames<RotateSecretRequest> = { overlapSeconds: true };
const REPLAY_NAMES = { after: true, upTo: true, failed: true } as const;
const LIST_NAMES: KnownNames<DeliveryListQuery> = { ...PAGE_NAMES, status: "for all deliveries" };

/** Endpoints that get events pushed. */
export class WebhooksApi extends ApiResource {
  /** Creates a webhook. Store its `secret`. */
  create(request: CreateWebhookRequest, options?: IdempotentCallOptions): ApiPromise<CreatedWebhook> {
    return this.keyedPost(
      () => ({ path: PATH, body: requireFields("(body)", request, CREATE_NAMES) }),
      options,
    );
  }

  /** Reads a webhook. */
  get(webhookId: string, options?: CallOptions): ApiPromise<Webhook> {
    return this.read(() => pathOf(webhookId), options);
  }

  /** Lists webhooks, newest first. */
  list(query: PageQuery = {}, options?: CallOptions): PagePromise<Webhook> {
    return this.pages(() => ({ path: PATH, query: requireFields("(query)", query, PAGE_NAMES) }), options);
  }

  /** Changes a webhook. */
  update(webhookId: string, request: UpdateWebhookRequest, options?: CallOptions): ApiPromise<Webhook> {
    return this.patch(
      () => ({ path: pathOf(webhookId), body: requireFields("(body)", request, UPDATE_NAMES) }),
      options,
    );
  }

  /** Deletes a webhook with its deliveries. */
  delete(webhookId: string, options?: CallOptions): ApiPromise<DeletedWebhook> {
    return this.call(() => ({ method: "DELETE", path: pathOf(webhookId), repeat: "once", options }));
  }

  /** Gives the webhook a new secret. Both sign until the overlap ends. */
  rotateSecret(
    webhookId: string,
    request: RotateSecretRequest = {},
    options?: IdempotentCallOptions,
  ): ApiPromise<RotatedWebhook> {
    const body = () => requireFields("(body)", request, ROTATE_NAMES);
    return this.keyedPost(() => ({ path: `${pathOf(webhookId)}/rotate-secret`, body: body() }), options);
  }

  /** Sends an event of type webhook.test. */
  test(webhookId: string, options?: IdempotentCallOptions): ApiPromise<Delivery> {
    return this.keyedPost(() => ({ path: `${pathOf(webhookId)}/test` }), options);
  }

  /** Delivers events again. */
  replay(
    webhookId: string,
    request: ReplayWebhookRequest,
    options?: IdempotentCallOptions,
  ): ApiPromise<ReplayedWebhook> {
    const body = () => requireFields<object>("(body)", request, REPLAY_NAMES);
    return this.keyedPost(() => ({ path: `${pathOf(webhookId)}/replay`, body: body() }), options);
  }

  /** Lists the deliveries of a webhook, newest first. */
  listDeliveries(
    webhookId: string,
    query: DeliveryListQuery = {},
    options?: CallOptions,
  ): PagePromise<Delivery> {
    const path = () => `${pathOf(webhookId)}/deliveries`;
    return this.pages(() => ({ path: path(), query: requireFields("(query)", query, LIST_NAMES) }), options);
  }

  /**
   * Verifies a delivery and returns its event. Give the body exactly as it arrived. Rejects a wrong
   * signature, and a timestamp that is more than five minutes off.
   */
  unwrap(body: string, headers: WebhookHeaders, secret: string): Promise<ServiceEvent | WebhookTestEvent> {
    return unwrapWebhook<ServiceEvent | WebhookTestEvent>(body, headers, secret);
  }
}

function pathOf(webhookId: string): string {
  return `${PATH}/${pathSegment("webhookId", webhookId, "WHK_001")}`;
}
