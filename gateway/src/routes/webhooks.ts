import { z } from "zod";
import { enumName, enumValue } from "@wonrail/kit/grpc/client";
import { isoTime, requirePresent } from "@wonrail/kit/records";
import {
  type Delivery as DeliveryMessage,
  DeliveryStatus,
  type ReplayWebhookRequest,
  type Webhook as WebhookMessage,
  WebhookOrdering,
  WebhookStatus,
} from "@wonrail/proto/events/v1/events";
import { type Clients } from "../clients";
import { toPageRequest, toPagination } from "./pagination";
import { keyedBy, retriedBy } from "./bodyHash";
import { type Handler, operation } from "./operation";
import { listQuery, pageOf, timestamp } from "./schemas";
import {
  DEFAULT_OVERLAP_SECONDS,
  MAX_REPLAY,
  MAX_OVERLAP_SECONDS,
  status,
  ordering,
  url,
  eventTypes,
  description,
  sequence,
  webhookFields,
  webhook,
  secret,
  delivery,
  webhookPath,
} from "./webhookSchemas";

export const createWebhook = operation({
  id: "createWebhook",
  tag: "Webhooks",
  summary: "Create a webhook",
  description:
    "Events are sent to the URL by POST, signed as Standard Webhooks 1.0. The answer is the only one " +
    "with the `secret`; a repetition with the same Idempotency-Key shows it again. WHK_002 names in " +
    "`details.reason` why the URL is not allowed.",
  access: "full",
  idempotent: true,
  body: z
    .strictObject({
      url,
      eventTypes: eventTypes.optional(),
      description: description.optional(),
      status: status.optional(),
      ordering: ordering.optional(),
      after: sequence.optional().meta({
        description:
          "Events behind this sequence are sent too. Omitted: only events from now on. EVT_002 when " +
          "events behind it are no longer kept.",
      }),
    })
    .meta({ id: "CreateWebhook" }),
  status: 201,
  data: z.strictObject({ ...webhookFields, secret }).meta({ id: "CreatedWebhook" }),
  errors: ["EVT_002", "WHK_002", "WHK_003"],
});

export const listWebhooks = operation({
  id: "listWebhooks",
  tag: "Webhooks",
  summary: "List webhooks, newest first",
  description: "Returns a page of the organisation's webhooks.",
  access: "full",
  query: listQuery({}),
  status: 200,
  data: pageOf(webhook).meta({ id: "WebhookPage" }),
  errors: [],
});

export const getWebhook = operation({
  id: "getWebhook",
  tag: "Webhooks",
  summary: "Read a webhook",
  description: "Returns one webhook, without its secret.",
  access: "full",
  params: webhookPath,
  status: 200,
  data: webhook,
  errors: ["WHK_001"],
});

export const updateWebhook = operation({
  id: "updateWebhook",
  tag: "Webhooks",
  summary: "Change a webhook",
  description:
    "Changes the fields that are given. When a webhook is enabled again, the events that waited are sent.",
  access: "full",
  whenUnknown: "This operation has no Idempotency-Key: send the request again. A repetition changes nothing.",
  params: webhookPath,
  body: z
    .strictObject({
      url: url.optional(),
      eventTypes: eventTypes.optional(),
      description: description.optional(),
      status: status.optional(),
      ordering: ordering.optional(),
    })
    .meta({ id: "UpdateWebhook" }),
  status: 200,
  data: webhook,
  errors: ["WHK_001", "WHK_002"],
});

export const deleteWebhook = operation({
  id: "deleteWebhook",
  tag: "Webhooks",
  summary: "Delete a webhook",
  description: "Deletes the webhook with its deliveries. An attempt under way may still arrive.",
  access: "full",
  whenUnknown:
    "This operation has no Idempotency-Key: send the request again. WHK_001 means that the webhook is deleted.",
  params: webhookPath,
  status: 200,
  data: z
    .strictObject({ deleted: z.literal(true).meta({ description: "Always true." }) })
    .meta({ id: "DeletedWebhook" }),
  errors: ["WHK_001"],
});

export const rotateWebhookSecret = operation({
  id: "rotateWebhookSecret",
  tag: "Webhooks",
  summary: "Give a webhook a new secret",
  description:
    "Deliveries are signed with the new secret and, until the overlap ends, with the previous secret too.",
  access: "full",
  idempotent: true,
  params: webhookPath,
  body: z
    .strictObject({
      overlapSeconds: z
        .int()
        .min(0)
        .max(MAX_OVERLAP_SECONDS)
        .optional()
        .meta({ description: `How long the old secret signs too. Omitted: ${DEFAULT_OVERLAP_SECONDS}.` }),
    })
    .meta({ id: "RotateWebhookSecret" }),
  status: 200,
  data: z
    .strictObject({
      ...webhookFields,
      secret,
      previousSecretEndsAt: timestamp("When the old secret stops signing."),
    })
    .meta({ id: "RotatedWebhook" }),
  errors: ["WHK_001"],
});

export const testWebhook = operation({
  id: "testWebhook",
  tag: "Webhooks",
  summary: "Send a test to a webhook",
  description:
    "Sends an event of type webhook.test, also while the webhook is DISABLED. The list of deliveries shows its outcome.",
  access: "full",
  idempotent: true,
  params: webhookPath,
  status: 201,
  data: delivery,
  errors: ["WHK_001"],
});

export const replayWebhook = operation({
  id: "replayWebhook",
  tag: "Webhooks",
  summary: "Deliver events again",
  description:
    "Delivers the kept events of a range again, or at once the deliveries that FAILED or pause " +
    "after a failed attempt. At most " +
    `${MAX_REPLAY} deliveries follow from one request: go on behind the last one. The header ` +
    "`webhook-id` is the same as before.",
  access: "full",
  idempotent: true,
  params: webhookPath,
  body: z
    .union([
      z
        .strictObject({
          after: sequence.meta({ description: "Events after this sequence." }),
          upTo: sequence.meta({ description: "Up to this sequence." }),
        })
        .meta({ id: "ReplayRange" }),
      z
        .strictObject({
          failed: z.literal(true).meta({
            description: "The deliveries that FAILED, and those that pause after a failed attempt.",
          }),
        })
        .meta({ id: "ReplayFailed" }),
    ])
    .meta({ id: "ReplayWebhook" }),
  status: 200,
  data: z
    .strictObject({ deliveries: z.int().meta({ description: "How many deliveries follow." }) })
    .meta({ id: "ReplayedWebhook" }),
  errors: ["WHK_001"],
});

export const listDeliveries = operation({
  id: "listDeliveries",
  tag: "Webhooks",
  summary: "List the deliveries of a webhook, newest first",
  description: "Returns a page of deliveries with their attempts. Finished deliveries are kept for 30 days.",
  access: "full",
  params: webhookPath,
  query: listQuery({
    status: z
      .enum(["PENDING", "DELIVERED", "FAILED"])
      .optional()
      .meta({ description: "Only deliveries with this status." }),
  }),
  status: 200,
  data: pageOf(delivery).meta({ id: "DeliveryPage" }),
  errors: ["WHK_001"],
});

export function createWebhookWith({ events }: Clients): Handler<typeof createWebhook> {
  return async ({ body }, call) => {
    const { url, eventTypes = [], description = "", after } = body;
    const asked = {
      orgId: call.principal.orgId,
      url,
      eventTypes,
      description,
      after: after === undefined ? undefined : BigInt(after),
    };
    const request = { ...asked, ...choicesOf(body), ...keyedBy(call, body) };
    const { webhook, secret, replayed } = await events.createWebhook(request, retriedBy(call));
    return { data: { ...webhookOf(webhook), secret }, replayed };
  };
}

export function listWebhooksWith({ events }: Clients): Handler<typeof listWebhooks> {
  return async ({ query }, { principal: { orgId } }) => {
    const { webhooks, page } = await events.listWebhooks(
      { orgId, page: toPageRequest(query) },
      { retry: true },
    );
    return { data: { items: webhooks.map(webhookOf), pagination: toPagination(query, page) } };
  };
}

export function getWebhookWith({ events }: Clients): Handler<typeof getWebhook> {
  return async ({ params }, { principal: { orgId } }) => ({
    data: webhookOf((await events.getWebhook({ orgId, ...params }, { retry: true })).webhook),
  });
}

export function updateWebhookWith({ events }: Clients): Handler<typeof updateWebhook> {
  return async ({ params, body }, { principal: { orgId } }) => {
    const { url, description, eventTypes } = body;
    const types = eventTypes && { types: eventTypes };
    const change = { url, description, eventTypes: types, ...choicesOf(body) };
    return { data: webhookOf((await events.updateWebhook({ orgId, ...params, ...change })).webhook) };
  };
}

export function deleteWebhookWith({ events }: Clients): Handler<typeof deleteWebhook> {
  return async ({ params }, { principal: { orgId } }) => {
    await events.deleteWebhook({ orgId, ...params });
    return { data: { deleted: true } };
  };
}

export function rotateWebhookSecretWith({ events }: Clients): Handler<typeof rotateWebhookSecret> {
  return async ({ params, body: { overlapSeconds = DEFAULT_OVERLAP_SECONDS } }, call) => {
    const content = { ...params, overlapSeconds };
    const request = { orgId: call.principal.orgId, ...content, ...keyedBy(call, content) };
    const { webhook, secret, previousEndsAt, replayed } = await events.rotateWebhookSecret(
      request,
      retriedBy(call),
    );
    return {
      data: { ...webhookOf(webhook), secret, previousSecretEndsAt: isoTime(previousEndsAt) },
      replayed,
    };
  };
}

export function testWebhookWith({ events }: Clients): Handler<typeof testWebhook> {
  return async ({ params }, call) => {
    const request = { orgId: call.principal.orgId, ...params, ...keyedBy(call, params) };
    const { delivery, replayed } = await events.testWebhook(request, retriedBy(call));
    return { data: deliveryOf(delivery), replayed };
  };
}

export function replayWebhookWith({ events }: Clients): Handler<typeof replayWebhook> {
  return async ({ params, body }, call) => {
    const wanted: ReplayWebhookRequest["wanted"] =
      "failed" in body
        ? { $case: "failed", value: true }
        : { $case: "range", value: { after: BigInt(body.after), upTo: BigInt(body.upTo) } };
    const request = { orgId: call.principal.orgId, ...params, wanted };
    const keyed = { ...request, ...keyedBy(call, { ...params, ...body }) };
    const { deliveries, replayed } = await events.replayWebhook(keyed, retriedBy(call));
    return { data: { deliveries }, replayed };
  };
}

export function listDeliveriesWith({ events }: Clients): Handler<typeof listDeliveries> {
  return async ({ params, query }, { principal: { orgId } }) => {
    const status = query.status ? enumValue(DeliveryStatus, query.status) : DeliveryStatus.UNSPECIFIED;
    const asked = { orgId, ...params, status, page: toPageRequest(query) };
    const { deliveries, page } = await events.listDeliveries(asked, { retry: true });
    return { data: { items: deliveries.map(deliveryOf), pagination: toPagination(query, page) } };
  };
}

function choicesOf(body: { status?: string | undefined; ordering?: string | undefined }) {
  return {
    status: body.status ? enumValue(WebhookStatus, body.status) : WebhookStatus.UNSPECIFIED,
    ordering: body.ordering
      ? enumValue(WebhookOrdering, body.ordering.toUpperCase())
      : WebhookOrdering.UNSPECIFIED,
  };
}

function webhookOf(message: WebhookMessage | undefined) {
  const of = requirePresent(message);
  return {
    webhookId: of.webhookId,
    url: of.url,
    eventTypes: of.eventTypes as z.output<typeof eventTypes>,
    description: of.description,
    status: requirePresent(enumName(WebhookStatus, of.status)),
    disabledReason: (of.disabledReason ?? null) as z.output<typeof webhook>["disabledReason"],
    ordering: requirePresent(enumName(WebhookOrdering, of.ordering)).toLowerCase() as z.output<
      typeof ordering
    >,
    failingSince: of.failingSince?.toISOString() ?? null,
    createdAt: isoTime(of.createdAt),
    updatedAt: isoTime(of.updatedAt),
  };
}

function deliveryOf(message: DeliveryMessage | undefined) {
  const of = requirePresent(message);
  return {
    deliveryId: of.deliveryId,
    eventId: of.eventId,
    eventType: of.eventType,
    sequence: of.sequence === undefined ? null : Number(of.sequence),
    status: requirePresent(enumName(DeliveryStatus, of.status)),
    nextAttemptAt: of.nextAttemptAt?.toISOString() ?? null,
    createdAt: isoTime(of.createdAt),
    finishedAt: of.finishedAt?.toISOString() ?? null,
    attempts: of.attempts.map((one) => ({
      number: one.number,
      startedAt: isoTime(one.startedAt),
      durationMs: one.durationMs,
      requestHead: one.requestHead ?? null,
      statusCode: one.statusCode ?? null,
      responseHead: one.responseHead ?? null,
      error: one.error ?? null,
    })),
  };
}
