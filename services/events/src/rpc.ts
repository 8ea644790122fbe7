import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import {
  enumFilter,
  type GrpcService,
  type Handlers,
  implement,
  readAtMost,
  readOrgId,
  readSandboxClock,
} from "@wonrail/kit/grpc/server";
import { type KeyedRequest, readKeyedRequest } from "@wonrail/kit/idempotency";
import { readPage } from "@wonrail/kit/page";
import * as message from "@wonrail/proto/events/v1/events";
import { type App } from "./app";
import { EVENT_TYPES, type EventsWanted, type EventType, isEventType } from "./feed";
import { deliveryMessage, eventMessage, webhookMessage } from "./messages";
import { type ReplayWanted, type Webhook } from "./webhooks";

const { EventsServiceService } = message;

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_WAIT_MS = 20_000;
const MAX_URL_CHARACTERS = 2_000;
const MAX_DESCRIPTION_CHARACTERS = 500;
const MAX_OVERLAP_SECONDS = 7 * 86_400;

/** The way in by gRPC. */
export function rpc(app: App): GrpcService[] {
  const handlers = { ...eventHandlers(app), ...webhookHandlers(app), ...sandboxHandlers(app) };
  return [implement(EventsServiceService, handlers)];
}

type ServiceHandlers = Handlers<typeof EventsServiceService>;

function eventHandlers(app: App): Pick<ServiceHandlers, "listEvents" | "getEvent"> {
  return {
    async listEvents(request) {
      const { events, nextAfter, hasMore } = await app.listEvents(readWanted(request));
      return { events: events.map(eventMessage), nextAfter, hasMore };
    },
    async getEvent({ orgId, eventId }) {
      const id = readOrgId(orgId);
      if (!isId("evt", eventId)) throw new DomainError("EVT_001");
      return { event: eventMessage(await app.getEvent({ orgId: id, eventId })) };
    },
  };
}

/** None on a main network, where the method is UNIMPLEMENTED. */
function sandboxHandlers({ sandbox }: App): Pick<ServiceHandlers, "setSandboxClock"> {
  if (!sandbox) return {};
  return {
    async setSandboxClock(request) {
      await sandbox.setClock(readSandboxClock(request));
      return {};
    },
  };
}

function webhookHandlers(app: App): Omit<ServiceHandlers, "listEvents" | "getEvent" | "setSandboxClock"> {
  return {
    async createWebhook(request) {
      const { webhook, ...rest } = await app.createWebhook({
        orgId: readOrgId(request.orgId),
        url: readText(request.url, "url", MAX_URL_CHARACTERS),
        eventTypes: readTypes(request.eventTypes, "eventTypes"),
        description: readText(request.description, "description", MAX_DESCRIPTION_CHARACTERS),
        status: readStatus(request.status) ?? "ENABLED",
        ordering: readOrdering(request.ordering) ?? "NONE",
        after: request.after ?? null,
        keyed: readKeyed("createWebhook", request),
      });
      return { webhook: webhookMessage(webhook), ...rest };
    },
    getWebhook: async (request) => ({ webhook: webhookMessage(await app.getWebhook(readKey(request))) }),
    async listWebhooks({ orgId, page }) {
      const { items, info } = await app.listWebhooks(
        readOrgId(orgId),
        readPage(page, (key) => isId("whk", key)),
      );
      return { webhooks: items.map(webhookMessage), page: info };
    },
    async updateWebhook(request) {
      const { url, description, eventTypes } = request;
      const webhook = await app.updateWebhook(readKey(request), {
        url: url === undefined ? undefined : readText(url, "url", MAX_URL_CHARACTERS),
        description:
          description === undefined
            ? undefined
            : readText(description, "description", MAX_DESCRIPTION_CHARACTERS),
        eventTypes: eventTypes && readTypes(eventTypes.types, "eventTypes"),
        status: readStatus(request.status),
        ordering: readOrdering(request.ordering),
      });
      return { webhook: webhookMessage(webhook) };
    },
    async deleteWebhook(request) {
      await app.deleteWebhook(readKey(request));
      return {};
    },
    async rotateWebhookSecret(request) {
      const { overlapSeconds } = request;
      if (overlapSeconds > MAX_OVERLAP_SECONDS)
        throw refused("overlapSeconds", `must be at most ${MAX_OVERLAP_SECONDS}`);
      const { webhook, ...rest } = await app.rotateSecret(
        readKey(request),
        overlapSeconds * 1_000,
        readKeyed("rotateWebhookSecret", request),
      );
      return { webhook: webhookMessage(webhook), ...rest };
    },
    async testWebhook(request) {
      const keyed = readKeyed("testWebhook", request);
      const { answer, replayed } = await app.testWebhook(readKey(request), keyed);
      return { delivery: deliveryMessage(answer), replayed };
    },
    async replayWebhook(request) {
      const keyed = readKeyed("replayWebhook", request);
      const { answer, replayed } = await app.replayWebhook(readKey(request), readReplay(request), keyed);
      return { ...answer, replayed };
    },
    async listDeliveries(request) {
      const status = enumFilter(message.DeliveryStatus, request.status, "status") ?? null;
      const page = readPage(request.page, (key) => isId("dlv", key));
      const { items, info } = await app.listDeliveries({ ...readKey(request), status }, page);
      return { deliveries: items.map(deliveryMessage), page: info };
    },
  };
}

function readWanted(request: message.ListEventsRequest): EventsWanted {
  const limit = request.limit || DEFAULT_LIMIT;
  if (limit > MAX_LIMIT) throw refused("limit", `must be from 1 to ${MAX_LIMIT}`);
  if (request.waitMs > MAX_WAIT_MS) throw refused("wait", `must be at most ${MAX_WAIT_MS} ms`);
  if (request.order === message.Order.UNRECOGNIZED)
    throw refused("order", "must be an order that this release knows");
  const isDescending = request.order === message.Order.DESCENDING;
  if (isDescending && request.waitMs > 0) throw refused("wait", "needs the ascending order");
  return {
    orgId: readOrgId(request.orgId),
    after: request.after ?? null,
    types: readTypes(request.types, "types"),
    objectId: request.objectId ?? null,
    isDescending,
    limit,
    waitMs: request.waitMs,
  };
}

function readKey({ orgId, webhookId }: { orgId: string; webhookId: string }) {
  const id = readOrgId(orgId);
  if (!isId("whk", webhookId)) throw new DomainError("WHK_001");
  return { orgId: id, webhookId };
}

function readKeyed(
  operation: string,
  request: { orgId: string; idempotencyKey?: string | undefined; bodyHash?: Buffer | undefined },
): KeyedRequest | undefined {
  return readKeyedRequest(operation, readOrgId(request.orgId), request);
}

function readTypes(names: string[], path: string): EventType[] {
  const types = readAtMost(EVENT_TYPES.length, names, path);
  if (!types.every(isEventType)) throw refused(path, "must be types of events");
  return types;
}

function readStatus(status: message.WebhookStatus): Webhook["status"] | undefined {
  return enumFilter(message.WebhookStatus, status, "status");
}

function readOrdering(ordering: message.WebhookOrdering): Webhook["ordering"] | undefined {
  return enumFilter(message.WebhookOrdering, ordering, "ordering");
}

function readReplay({ wanted }: message.ReplayWebhookRequest): ReplayWanted {
  if (wanted?.$case === "range") return wanted.value;
  if (wanted?.$case === "failed" && wanted.value) return "failed";
  throw refused("wanted", "must be a range or the failed deliveries");
}

function readText(text: string, path: string, maxCharacters: number): string {
  if (text.length > maxCharacters) throw refused(path, `must be at most ${maxCharacters} characters long`);
  return text;
}

function refused(path: string, problem: string): DomainError {
  return invalidRequest([{ path, message: problem }]);
}
