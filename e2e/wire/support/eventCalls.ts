import { newId } from "@wonrail/kit/contract/ids";
import {
  DeliveryStatus,
  EventsServiceService,
  Order,
  WebhookOrdering,
  WebhookStatus,
} from "@wonrail/proto/events/v1/events";
import { type Call, calls, choice } from "./callRows";
import { makeWebhook } from "./story";

const PAGE = { limit: 20, position: choice("currentPage", 1) };
const LONG_PAGE = { ...PAGE, limit: 101 };

/** The gateway's calls to events. */
export const EVENT_CALLS: Call[] = calls("gateway", "events", EventsServiceService, {
  listEvents: {
    good: ({ orgId }) => ({ orgId, types: [], order: Order.ASCENDING, limit: 20, waitMs: 0 }),
    bad: ["REQ_001 limit", (good) => ({ ...good, limit: 101 })],
  },
  getEvent: {
    good: ({ orgId, eventId }) => ({ orgId, eventId }),
    bad: ["EVT_001", (good) => ({ ...good, eventId: newId("evt") })],
  },
  createWebhook: {
    good: ({ orgId }) => ({
      ...{ orgId, url: "http://127.0.0.1:9/hook", eventTypes: [], description: "" },
      ...{ status: WebhookStatus.DISABLED, ordering: WebhookOrdering.NONE },
    }),
    bad: ["REQ_001 eventTypes", (good) => ({ ...good, eventTypes: ["gift.given"] })],
  },
  getWebhook: {
    good: ({ orgId, webhookId }) => ({ orgId, webhookId }),
    bad: ["WHK_001", (good) => ({ ...good, webhookId: newId("whk") })],
  },
  listWebhooks: {
    good: ({ orgId }) => ({ orgId, page: PAGE }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
  updateWebhook: {
    good: ({ orgId, webhookId }) => ({
      ...{ orgId, webhookId, description: "changed" },
      ...{ status: WebhookStatus.UNSPECIFIED, ordering: WebhookOrdering.UNSPECIFIED },
    }),
    bad: ["WHK_001", (good) => ({ ...good, webhookId: newId("whk") })],
  },
  deleteWebhook: {
    good: async ({ orgId, gateway }) => ({ orgId, webhookId: await makeWebhook(gateway, orgId) }),
    bad: ["WHK_001", (good) => ({ ...good, webhookId: newId("whk") })],
  },
  rotateWebhookSecret: {
    good: ({ orgId, webhookId }) => ({ orgId, webhookId, overlapSeconds: 60 }),
    bad: ["REQ_001 overlapSeconds", (good) => ({ ...good, overlapSeconds: 604_801 })],
  },
  testWebhook: {
    good: ({ orgId, webhookId }) => ({ orgId, webhookId }),
    bad: ["WHK_001", (good) => ({ ...good, webhookId: newId("whk") })],
  },
  replayWebhook: {
    good: ({ orgId, webhookId }) => ({ orgId, webhookId, wanted: choice("failed", true) }),
    bad: ["REQ_001 wanted", (good) => ({ ...good, wanted: undefined })],
  },
  listDeliveries: {
    good: ({ orgId, webhookId }) => ({
      ...{ orgId, webhookId, status: DeliveryStatus.UNSPECIFIED, page: PAGE },
    }),
    bad: ["REQ_001 limit", (good) => ({ ...good, page: LONG_PAGE })],
  },
});
