import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { isId } from "@wonrail/kit/contract/ids";
import { type GrpcService, implement, readAtMost, readOrgId } from "@wonrail/kit/grpc/server";
import {
  type Event as EventMessage,
  EventsServiceService,
  type ListEventsRequest,
  Order,
} from "@wonrail/proto/events/v1/events";
import { type App } from "./app";
import { EVENT_TYPES, type EventsWanted, isEventType, type PublicEvent } from "./feed";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const MAX_WAIT_MS = 20_000;

/** The way in by gRPC. */
export function rpc(app: App): GrpcService[] {
  return [
    implement(EventsServiceService, {
      async listEvents(request) {
        const { events, nextAfter, hasMore } = await app.listEvents(readWanted(request));
        return { events: events.map(eventMessage), nextAfter, hasMore };
      },
      async getEvent({ orgId, eventId }) {
        const id = readOrgId(orgId);
        if (!isId("evt", eventId)) throw new DomainError("EVT_001");
        return { event: eventMessage(await app.getEvent({ orgId: id, eventId })) };
      },
    }),
  ];
}

function readWanted(request: ListEventsRequest): EventsWanted {
  const limit = request.limit || DEFAULT_LIMIT;
  if (limit > MAX_LIMIT) throw refused("limit", `must be from 1 to ${MAX_LIMIT}`);
  if (request.waitMs > MAX_WAIT_MS) throw refused("wait", `must be at most ${MAX_WAIT_MS} ms`);
  const types = readAtMost(EVENT_TYPES.length, request.types, "types");
  if (!types.every(isEventType)) throw refused("types", "must be types of events");
  if (request.order === Order.UNRECOGNIZED)
    throw refused("order", "must be an order that this release knows");
  const isDescending = request.order === Order.DESCENDING;
  if (isDescending && request.waitMs > 0) throw refused("wait", "needs the ascending order");
  return {
    orgId: readOrgId(request.orgId),
    after: request.after ?? null,
    types,
    objectId: request.objectId ?? null,
    isDescending,
    limit,
    waitMs: request.waitMs,
  };
}

function refused(path: string, message: string): DomainError {
  return invalidRequest([{ path, message }]);
}

function eventMessage(event: PublicEvent): EventMessage {
  const { eventId, type, sequence, objectId, objectSequence, createdAt, dataJson } = event;
  return { eventId, type, sequence, objectId, objectSequence, createdAt, dataJson };
}
