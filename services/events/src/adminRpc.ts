import { implementAdmin, readLimit } from "@wonrail/kit/admin";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { type Database } from "@wonrail/kit/db";
import { enumFilter, enumValue, type GrpcService, readOrgId } from "@wonrail/kit/grpc/server";
import { listConsumers } from "@wonrail/kit/inbox";
import { type SearchHit } from "@wonrail/proto/common/v1/admin";
import {
  type EventDelivery as EventDeliveryMessage,
  EventsAdminServiceService,
  type ReplayDeliveriesRequest,
  type WebhookState,
} from "@wonrail/proto/events/v1/admin";
import { DeliveryStatus, WebhookStatus } from "@wonrail/proto/events/v1/events";
import { findEventsById, listObjectEvents } from "./feed";
import { deliveryMessage, eventMessage } from "./messages";
import {
  disableWebhook,
  enableWebhook,
  type EventDelivery,
  findOwner,
  findWebhook,
  listDeliveries,
  listEventDeliveries,
  listWebhookViews,
  readOverview,
  replayForOperator,
  type ReplayWanted,
  type WebhookView,
} from "./webhooks";

const MAX_EVENTS = 100;

/** The operators' gRPC methods. The kit has checked the operator's role and reason. */
export function adminRpc({ db }: { db: Database }): GrpcService {
  return implementAdmin(EventsAdminServiceService, {
    async getOverview() {
      const { failingSince, ...counts } = await readOverview(db);
      return { ...counts, failingSince: failingSince ?? undefined };
    },

    async search({ text }) {
      return { hits: await search(db, text.trim()) };
    },

    async listObjectEvents({ orgId: org, objectId, afterSequence: after = 0n, limit }) {
      const wanted = { orgId: readOrgId(org), objectId, after, limit: readLimit(limit, MAX_EVENTS) };
      const { events, hasMore } = await listObjectEvents(db, wanted);
      const ids = events.map(({ eventId }) => eventId);
      const deliveries = await listEventDeliveries(db, wanted.orgId, ids);
      return {
        events: events.map((event) => ({
          event: eventMessage(event),
          deliveries: (deliveries.get(event.eventId) ?? []).map(eventDeliveryMessage),
        })),
        nextAfterSequence: hasMore ? events.at(-1)!.sequence : undefined,
      };
    },

    async listWebhookStates({ orgId, webhookId, troubled, limit }) {
      const views = await listWebhookViews(db, {
        orgId: orgId === undefined ? null : readOrgId(orgId),
        webhookId: webhookId ?? null,
        isTroubled: troubled,
        limit: readLimit(limit),
      });
      return { webhooks: views.map(stateMessage) };
    },

    async listWebhookDeliveries({ webhookId, status: wanted, limit }) {
      const status = enumFilter(DeliveryStatus, wanted, "status") ?? null;
      const page = { limit: readLimit(limit), offset: 0, after: null };
      const { items } = await listDeliveries({ db }, { ...(await keyOf(webhookId)), status }, page);
      return { deliveries: items.map(deliveryMessage) };
    },

    async disableWebhook({ webhookId }, { operator }) {
      await disableWebhook({ db }, await keyOf(webhookId), operator);
      return {};
    },

    async enableWebhook({ webhookId }, { operator }) {
      await enableWebhook({ db }, await keyOf(webhookId), operator);
      return {};
    },

    async replayDeliveries(request, { operator }) {
      const wanted = wantedOf(request);
      return {
        deliveries: await replayForOperator({ db }, await keyOf(request.webhookId), wanted, operator),
      };
    },

    async listConsumers() {
      const consumers = await listConsumers(db);
      return {
        consumers: consumers.map(({ group, events, movedAt, ...rest }) => ({
          ...rest,
          movedAt: movedAt ?? undefined,
          consumerGroup: group,
          events: BigInt(events),
        })),
      };
    },
  });

  /** Finds the webhook's organisation, because every statement names it. */
  async function keyOf(webhookId: string) {
    const orgId = await findOwner(db, webhookId);
    if (orgId === undefined) throw new DomainError("WHK_001");
    return { orgId, webhookId };
  }
}

async function search(db: Database, text: string): Promise<SearchHit[]> {
  if (isId("evt", text)) {
    const events = await findEventsById(db, text);
    return events.map(({ orgId, type, objectId }) => ({
      ...{ kind: "event", id: text, orgId },
      title: `${type} of ${objectId}`,
    }));
  }
  const webhook = isId("whk", text) ? await findWebhook(db, text) : undefined;
  if (!webhook) return [];
  const { orgId, url, status } = webhook;
  return [{ kind: "webhook", id: text, orgId, title: `${status} webhook to ${url}` }];
}

function eventDeliveryMessage(delivery: EventDelivery): EventDeliveryMessage {
  const { webhookId, url } = delivery;
  return { webhookId, url, delivery: deliveryMessage(delivery) };
}

function wantedOf({ wanted }: ReplayDeliveriesRequest): ReplayWanted {
  if (wanted?.$case === "range") return wanted.value;
  if (wanted?.$case === "failed" && wanted.value) return "failed";
  throw invalidRequest([{ path: "wanted", message: "must be a range or the failed deliveries" }]);
}

function stateMessage({
  failingSince,
  pendingSince,
  disabledReason,
  eventsBehind,
  ...view
}: WebhookView): WebhookState {
  return {
    ...view,
    status: enumValue(WebhookStatus, view.status),
    eventsBehind: BigInt(eventsBehind),
    disabledReason: disabledReason ?? undefined,
    failingSince: failingSince ?? undefined,
    pendingSince: pendingSince ?? undefined,
  };
}
