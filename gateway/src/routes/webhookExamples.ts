import {
  cancelledPayment,
  daysAfter,
  exampleId,
  minute,
  pageOf,
  secondPayment,
  secondsAfter,
} from "./exampleFixtures";

/** A request of the story and its answer. */
export interface Example {
  /** The operation's id. */
  operation: string;
  /** Distinguishes the examples of one operation. */
  name?: string;
  /** Time of the answer. */
  at: string;
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: object;
  data: object;
}

/** The events of the second payment, which was cancelled. */
const paymentEvents = [
  eventOf(
    { type: "payment.created", sequence: 8, objectSequence: 1, createdAt: secondPayment.createdAt },
    { ...secondPayment, refunds: [] },
  ),
  eventOf(
    { type: "payment.cancelled", sequence: 9, objectSequence: 2, createdAt: minute(10) },
    { ...cancelledPayment, refunds: [] },
  ),
];

function eventOf(
  place: { type: string; sequence: number; objectSequence: number; createdAt: string },
  data: object,
) {
  return { eventId: exampleId("evt", place.createdAt), ...place, objectId: secondPayment.paymentId, data };
}

const webhook = {
  webhookId: exampleId("whk", minute(26)),
  url: "https://partner.example.com/wonrail",
  eventTypes: ["payment.created", "payment.cancelled"],
  description: "Orders",
  status: "ENABLED",
  disabledReason: null,
  ordering: "object",
  failingSince: null,
  createdAt: minute(26),
  updatedAt: minute(26),
};
const createdWebhook = { ...webhook, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" };
const quietWebhook = { ...webhook, description: "Orders of the shop" };
const rotatedWebhook = {
  ...quietWebhook,
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  previousSecretEndsAt: daysAfter(secondsAfter(minute(26), 7), 1),
};
const testDelivery = {
  deliveryId: exampleId("dlv", minute(26)),
  eventId: exampleId("evt", minute(26)),
  eventType: "webhook.test",
  sequence: null,
  status: "PENDING",
  nextAttemptAt: minute(26),
  createdAt: minute(26),
  finishedAt: null,
  attempts: [],
};
const refused = {
  number: 1,
  startedAt: minute(26),
  durationMs: 84,
  requestHead: [
    "POST /wonrail",
    "host: partner.example.com",
    "content-type: application/json",
    "content-length: 312",
    "user-agent: wonrail-webhooks/1",
    `webhook-id: ${testDelivery.eventId}`,
    "webhook-timestamp: 1768352160",
    "webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ].join("\n"),
  statusCode: 500,
  responseHead: "HTTP 500\ndate: Wed, 14 Jan 2026 00:56:00 GMT\n\n",
  error: "the endpoint answered 500",
};
const retriedDelivery = { ...testDelivery, attempts: [refused] };

/** The partner reads events and tries a webhook. */
export const webhookStory: Example[] = [
  {
    operation: "listEvents",
    at: minute(26),
    query: { after: "7", types: "payment.created,payment.cancelled", objectId: secondPayment.paymentId },
    data: { items: paymentEvents, pagination: { limit: 20, hasNext: false, nextAfter: "15" } },
  },
  {
    operation: "getEvent",
    at: minute(26),
    params: { eventId: paymentEvents[0]!.eventId },
    data: paymentEvents[0]!,
  },
  {
    operation: "createWebhook",
    at: minute(26),
    body: {
      url: createdWebhook.url,
      eventTypes: createdWebhook.eventTypes,
      description: "Orders",
      ordering: "object",
    },
    data: createdWebhook,
  },
  {
    operation: "testWebhook",
    at: secondsAfter(minute(26), 1),
    params: { webhookId: createdWebhook.webhookId },
    data: testDelivery,
  },
  {
    operation: "listDeliveries",
    at: secondsAfter(minute(26), 2),
    params: { webhookId: createdWebhook.webhookId },
    query: { status: "PENDING" },
    data: pageOf(retriedDelivery),
  },
  {
    operation: "updateWebhook",
    at: secondsAfter(minute(26), 3),
    params: { webhookId: createdWebhook.webhookId },
    body: { description: quietWebhook.description },
    data: quietWebhook,
  },
  {
    operation: "getWebhook",
    at: secondsAfter(minute(26), 4),
    params: { webhookId: createdWebhook.webhookId },
    data: quietWebhook,
  },
  { operation: "listWebhooks", at: secondsAfter(minute(26), 5), query: {}, data: pageOf(quietWebhook) },
  {
    operation: "replayWebhook",
    at: secondsAfter(minute(26), 6),
    params: { webhookId: createdWebhook.webhookId },
    body: { after: "7", upTo: "9" },
    data: { deliveries: 2 },
  },
  {
    operation: "rotateWebhookSecret",
    at: secondsAfter(minute(26), 7),
    params: { webhookId: createdWebhook.webhookId },
    body: { overlapSeconds: 86_400 },
    data: rotatedWebhook,
  },
  {
    operation: "deleteWebhook",
    at: secondsAfter(minute(26), 8),
    params: { webhookId: createdWebhook.webhookId },
    data: { deleted: true },
  },
];
