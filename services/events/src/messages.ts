import { enumValue } from "@wonrail/kit/grpc/server";
import * as message from "@wonrail/proto/events/v1/events";
import { type PublicEvent } from "./feed";
import { type Delivery, type DeliveryWithAttempts, type Webhook } from "./webhooks";

// Events, webhooks and deliveries in the words of the contract.

export function eventMessage(event: PublicEvent): message.Event {
  const { eventId, type, sequence, objectId, objectSequence, createdAt, dataJson } = event;
  return { eventId, type, sequence, objectId, objectSequence, createdAt, dataJson };
}

export function webhookMessage(webhook: Webhook): message.Webhook {
  const { webhookId, url, eventTypes, description, disabledReason, failingSince, createdAt, updatedAt } =
    webhook;
  return {
    ...{ webhookId, url, eventTypes, description, createdAt, updatedAt },
    status: enumValue(message.WebhookStatus, webhook.status),
    ordering: enumValue(message.WebhookOrdering, webhook.ordering),
    disabledReason: disabledReason ?? undefined,
    failingSince: failingSince ?? undefined,
  };
}

export function deliveryMessage(delivery: Delivery & Partial<DeliveryWithAttempts>): message.Delivery {
  const { deliveryId, eventId, eventType, sequence, status, nextAttemptAt, createdAt, finishedAt } = delivery;
  return {
    ...{ deliveryId, eventId, eventType, createdAt, sequence: sequence ?? undefined },
    status: enumValue(message.DeliveryStatus, status),
    nextAttemptAt: nextAttemptAt ?? undefined,
    finishedAt: finishedAt ?? undefined,
    attempts: (delivery.tries ?? []).map(
      ({ number, startedAt, durationMs, requestHead, statusCode, responseHead, error }) => ({
        ...{ number, startedAt, durationMs, requestHead: requestHead ?? undefined },
        statusCode: statusCode ?? undefined,
        ...{ responseHead: responseHead ?? undefined, error: error ?? undefined },
      }),
    ),
  };
}
