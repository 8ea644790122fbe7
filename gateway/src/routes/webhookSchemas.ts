import { z } from "zod";
import { EVENT_TYPES } from "@wonrail/kit/contract/eventTypes";
import { responseId, idOf, textOf, timestamp } from "./schemas";

// Schemas of requests and answers about webhooks.

export const MAX_OVERLAP_SECONDS = 7 * 86_400;
export const DEFAULT_OVERLAP_SECONDS = 86_400;
export const MAX_REPLAY = 10_000;

export const status = z.enum(["ENABLED", "DISABLED"]).meta({
  id: "WebhookStatus",
  description: "A DISABLED webhook gets no events. Its events wait for up to 30 days.",
});
export const ordering = z.enum(["none", "object"]).meta({
  id: "WebhookOrdering",
  description:
    "object: an event of an object is delivered after the earlier events of the object. none, the default: at once.",
});
export const url = textOf(
  2_000,
  "Where events are sent: an https URL, without credentials and fragment, that leads to no private address.",
  1,
);
export const eventTypes = z
  .array(z.enum(EVENT_TYPES))
  .max(EVENT_TYPES.length)
  .meta({ description: "Only events of these types. Empty: all types." });
export const description = textOf(500, "Your own note.");
export const sequence = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,15})$/, { error: "must be the sequence of an event, or 0" });

export const webhookFields = {
  webhookId: responseId("The webhook's id."),
  url: z.string().meta({ description: "Where events are sent." }),
  eventTypes,
  description: z.string().meta({ description: "Your own note." }),
  status,
  disabledReason: z
    .enum(["REQUESTED", "GONE", "FAILING", "OPERATOR"])
    .nullable()
    .meta({
      description:
        "Why it is DISABLED; null when it is not. REQUESTED: by you. GONE: the endpoint answered 410. " +
        "FAILING: no delivery succeeded for five days. OPERATOR: by the operator of this service.",
    }),
  ordering,
  failingSince: timestamp(
    "The first failed attempt since the last success; null when the last one succeeded.",
  ).nullable(),
  createdAt: timestamp("When the webhook was created."),
  updatedAt: timestamp("When it was last changed by a request."),
};
export const webhook = z
  .strictObject(webhookFields)
  .meta({ id: "Webhook", description: "Your endpoint that gets events." });
export const secret = z
  .string()
  .meta({ description: "The secret that signs deliveries, `whsec_…`. Store it: it is not shown again." });

const attempt = z
  .strictObject({
    number: z.int().meta({ description: "From 1." }),
    startedAt: timestamp("When the attempt started."),
    durationMs: z.int().meta({ description: "How long it took." }),
    requestHead: z
      .string()
      .nullable()
      .meta({
        description:
          "Method, path and headers of the request. Its body is the event, as GET /api/events/{eventId} " +
          "answers it. Null when the event was no longer kept.",
      }),
    statusCode: z
      .int()
      .nullable()
      .meta({ description: "The status of the endpoint's answer; null without an answer." }),
    responseHead: z
      .string()
      .nullable()
      .meta({ description: "Status, headers and the first 1,000 characters of the body." }),
    error: z.string().nullable().meta({ description: "Why the attempt failed; null when it succeeded." }),
  })
  .meta({ id: "DeliveryAttempt" });

export const delivery = z
  .strictObject({
    deliveryId: responseId("The delivery's id."),
    eventId: responseId("The event's id, which the header `webhook-id` has."),
    eventType: z.string().meta({ description: "The type of the event; webhook.test for a test." }),
    sequence: z.int().nullable().meta({ description: "The sequence of the event; null for a test." }),
    status: z.enum(["PENDING", "DELIVERED", "FAILED"]).meta({ description: "FAILED: no attempt is left." }),
    nextAttemptAt: timestamp("When the next attempt is due; null when none follows.").nullable(),
    createdAt: timestamp("When the delivery was made."),
    finishedAt: timestamp("When it succeeded or failed for good.").nullable(),
    attempts: z.array(attempt).meta({ description: "The attempts, oldest first." }),
  })
  .meta({ id: "Delivery", description: "One event for one endpoint." });

export const webhookPath = z.strictObject({ webhookId: idOf("whk", "WHK_001", "The webhook's id.") });
