import { EVENT_TYPES } from "@wonrail/kit/contract/eventTypes";
import { z } from "zod";
import { type Json } from "@wonrail/kit/json";
import { isoTime, requirePresent } from "@wonrail/kit/records";
import { type Event as EventMessage, Order } from "@wonrail/proto/events/v1/events";
import { type Clients } from "../clients";
import { type Handler, operation, type Route } from "./operation";
import { DEFAULT_LIMIT, responseId, idOf, queryInteger, timestamp } from "./schemas";

const MAX_WAIT_SECONDS = 20;
const MAX_LIMIT = 100;

const event = z
  .strictObject({
    eventId: responseId("The event's id. The same event always has the same id."),
    type: z.enum(EVENT_TYPES).meta({
      id: "EventType",
      description: "The type of an event. A later release can add types: ignore those that you do not know.",
    }),
    sequence: z.int().meta({
      description: "The place in the events of your organisation: from 1, without gaps.",
    }),
    objectId: responseId(
      "The id of the wallet, charge, refund, transfer, payment, deposit, record, key or webhook.",
    ),
    objectSequence: z
      .int()
      .meta({ description: "The place in the events of the object: from 1, without gaps." }),
    createdAt: timestamp("When it happened."),
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "The object, as a read of it answered when the event was made. Of a key: `key` of the session. A deposit has no read of its own.",
    }),
  })
  .meta({ id: "Event", description: "Something that happened to an object of your organisation." });

const after = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,15})$/, { error: "must be the sequence of an event, or 0" })
  .transform(BigInt)
  .meta({
    description:
      "The sequence of the last event that you handled. Omitted: from the oldest event that is kept, or " +
      "in descending order from the newest.",
    type: "string",
  });

const types = z
  .string()
  .refine((text) => text.split(",").every((name) => (EVENT_TYPES as readonly string[]).includes(name)), {
    message: "must be one or several types of events, separated by commas",
  })
  .transform((text) => [...new Set(text.split(","))])
  .meta({ description: "Only events of these types: one or several, separated by commas.", type: "string" });

const objectId = z
  .string()
  .regex(/^[a-z]{3}_[0-9a-f]{32}$/, { error: "must be the id of an object" })
  .meta({ description: "Only events of this object." });

/** The filters of the list and of the stream. */
const eventFilters = {
  after: after.optional(),
  types: types.optional(),
  objectId: objectId.optional(),
};

export const listEvents = operation({
  id: "listEvents",
  tag: "Events",
  summary: "List events",
  description:
    "Returns the events after the sequence `after`, oldest first. With `wait` the request waits until there " +
    "is one. Continue with `after` = `pagination.nextAfter`, even after an empty answer: it skips the events " +
    "that the filters exclude. EVT_002 means that events after `after` have been deleted: read your objects " +
    "again, then continue with `after` = `details.oldestAfter`.",
  access: "full",
  waitMs: MAX_WAIT_SECONDS * 1_000,
  query: z
    .strictObject({
      ...eventFilters,
      order: z
        .enum(["asc", "desc"])
        .optional()
        .meta({ description: "asc, the default: oldest first. desc: newest first." }),
      limit: queryInteger(1, MAX_LIMIT)
        .optional()
        .meta({
          ...{ description: "How many events an answer has at most.", type: "integer" },
          ...{ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT },
        }),
      wait: queryInteger(0, MAX_WAIT_SECONDS)
        .optional()
        .meta({
          ...{
            description: "Seconds to wait for an event when there is none. Not with `order=desc`.",
            type: "integer",
          },
          ...{ minimum: 0, maximum: MAX_WAIT_SECONDS, default: 0 },
        }),
    })
    .refine(({ order, wait = 0 }) => order !== "desc" || wait === 0, {
      path: ["wait"],
      message: "cannot be given together with order=desc",
    }),
  status: 200,
  data: z
    .strictObject({
      items: z.array(event).meta({ description: "The events of this page." }),
      pagination: z
        .strictObject({
          limit: z.int().meta({ description: "How many events a page has at most." }),
          hasNext: z.boolean().meta({ description: "Whether there are more events now." }),
          nextAfter: z.string().meta({ description: "`after` of the next request." }),
        })
        .meta({ id: "EventPagination" }),
    })
    .meta({ id: "EventPage" }),
  errors: ["EVT_002"],
});

const streamEvents = operation({
  id: "streamEvents",
  tag: "Events",
  summary: "Stream events",
  description:
    "Sends the events of the list as Server-Sent Events, those after `after` first and then each new one. " +
    "`id` of each is its sequence, so a client that reconnects sends it as `Last-Event-ID`. `event` is " +
    "its type and `data` the event as JSON. A comment follows every few seconds without an event. The " +
    "stream ends when a gateway stops: connect again. An organisation may have 10 streams per gateway; " +
    "RATE_001 refuses another stream.",
  access: "full",
  isStream: true,
  query: z.strictObject(eventFilters),
  status: 200,
  data: event,
  errors: ["EVT_002"],
});

/** Answered by middleware/eventStream.ts, so it has no handler. */
export const STREAM_ROUTE = {
  ...{ method: "GET", path: "/api/events/stream", operation: streamEvents, scope: "events:read" },
} as const satisfies Omit<Route, "handler">;

export const getEvent = operation({
  id: "getEvent",
  tag: "Events",
  summary: "Read an event",
  description: "Returns one event. Events are kept for 30 days.",
  access: "full",
  params: z.strictObject({ eventId: idOf("evt", "EVT_001", "The event's id.") }),
  status: 200,
  data: event,
  errors: ["EVT_001"],
});

export function listEventsWith({ events }: Clients): Handler<typeof listEvents> {
  return async ({ query }, { principal: { orgId } }) => {
    const { limit = DEFAULT_LIMIT, wait = 0, types = [], after, objectId } = query;
    const waitMs = wait * 1_000;
    const order = query.order === "desc" ? Order.DESCENDING : Order.ASCENDING;
    const page = await events.listEvents(
      { orgId, after, types, objectId, order, limit, waitMs },
      { retry: true, timeoutMs: waitMs + CALL_TIMEOUT_MS },
    );
    const pagination = { limit, hasNext: page.hasMore, nextAfter: page.nextAfter.toString() };
    return { data: { items: page.events.map(eventOf), pagination } };
  };
}

const CALL_TIMEOUT_MS = 5_000;

export function getEventWith({ events }: Clients): Handler<typeof getEvent> {
  return async ({ params: { eventId } }, { principal: { orgId } }) => ({
    data: eventOf(requirePresent((await events.getEvent({ orgId, eventId }, { retry: true })).event)),
  });
}

/** An event of the stream. */
export function frameOf(of: Pick<z.output<typeof event>, "sequence" | "type">): string {
  return `id: ${of.sequence}\nevent: ${of.type}\ndata: ${JSON.stringify(of)}\n\n`;
}

export function eventOf(message: EventMessage) {
  const { eventId, type, sequence, objectId, objectSequence, createdAt, dataJson } = message;
  return {
    eventId,
    type: type as z.output<typeof event>["type"],
    sequence: Number(sequence),
    objectId,
    objectSequence: Number(objectSequence),
    createdAt: isoTime(createdAt),
    data: JSON.parse(dataJson) as Record<string, Json>,
  };
}
