import {
  type FeedEvent,
  type FeedHead,
  FeedServiceService,
  type ListEventsRequest,
  type ListEventsResponse,
} from "@wonrail/proto/common/v1/feed";
import { type Topic } from "../bus/port";
import { invalidRequest } from "../contract/errors";
import { idToUuid, isId, uuidToId } from "../contract/ids";
import type { Database, Listener } from "../db";
import { type GrpcService, implement, readAtMost } from "../grpc/server";
import { createPause, type Pause } from "../pause";
import { channelOf, doorbellOf } from "./doorbell";
import { readFeed, readFeedHeads, type FeedHeadRow, type NumberedRow } from "./store";

export const MAX_EVENTS = 1_000;
const MAX_WAIT_MS = 20_000;
/** An answer with one payload beyond this still fits into a gRPC message. */
const MAX_BYTES = 1024 * 1024;
/** How often a waiting call looks without being woken: a notification may get lost. */
const LOOK_EVERY_MS = 1_000;

export interface Feed {
  service: GrpcService;
  /** Ends the waiting calls. */
  close(): Promise<void>;
}

/** Serves the events of this schema's outbox by partition and number. Every replica serves them. */
export function createFeed({ db, topic }: { db: Database; topic: Topic }): Feed {
  const waiting = new Set<Pause>();
  const wakeAll = (): void => waiting.forEach((call) => call.wake());
  doorbellOf(db, "feed").wakers.add(wakeAll);
  let listening: Promise<Listener> | undefined;
  let closed = false;

  async function listEvents(request: ListEventsRequest, signal: AbortSignal): Promise<ListEventsResponse> {
    const cursors = readCursors(request, topic);
    const untilMs = performance.now() + request.waitMs;
    const rest = createPause();
    const stop = (): void => rest.close();
    signal.addEventListener("abort", stop);
    waiting.add(rest);
    try {
      for (;;) {
        const answer = await readAnswer(db, cursors, request.limit);
        const leftMs = untilMs - performance.now();
        const isDone = answer.events.length > 0 || answer.heads.some(({ restarted }) => restarted);
        if (isDone || leftMs <= 0 || rest.closed || closed) return answer;
        listening ??= db.listen(channelOf(db.schema, "feed"), wakeAll);
        await rest.sleep(Math.min(leftMs, LOOK_EVERY_MS));
      }
    } finally {
      waiting.delete(rest);
      signal.removeEventListener("abort", stop);
    }
  }

  return {
    service: implement(FeedServiceService, {
      listEvents: (request, { signal }) => listEvents(request, signal),
    }),
    async close() {
      closed = true;
      doorbellOf(db, "feed").wakers.delete(wakeAll);
      waiting.forEach((call) => call.close());
      await (await listening)?.close();
    },
  };
}

interface Asked {
  partition: number;
  number: bigint;
  eventId: string | undefined;
}

function readCursors({ topic: name, cursors, limit, waitMs }: ListEventsRequest, topic: Topic): Asked[] {
  const problems: string[][] = [];
  if (name !== topic.name) problems.push(["topic", `must be ${topic.name}`]);
  if (limit < 1 || limit > MAX_EVENTS) problems.push(["limit", `must be 1 to ${MAX_EVENTS}`]);
  if (waitMs > MAX_WAIT_MS) problems.push(["waitMs", `must be at most ${MAX_WAIT_MS}`]);
  readAtMost(topic.partitions, cursors, "cursors");
  cursors.forEach(({ partition, eventId }, index) => {
    if (partition >= topic.partitions)
      problems.push([`cursors[${index}].partition`, `must be below ${topic.partitions}`]);
    if (eventId !== undefined && !isId("evt", eventId))
      problems.push([`cursors[${index}].eventId`, "must be an event's id"]);
  });
  if (problems.length > 0)
    throw invalidRequest(problems.map(([path, message]) => ({ path: path!, message: message! })));
  return cursors.map(({ partition, number, eventId }) => ({
    partition,
    number,
    eventId: eventId === undefined ? undefined : idToUuid(eventId),
  }));
}

async function readAnswer(db: Database, cursors: Asked[], limit: number): Promise<ListEventsResponse> {
  const asked = new Map(cursors.map((cursor) => [cursor.partition, cursor]));
  const places = (await readFeedHeads(db, cursors)).map((row) => placeOf(row, asked.get(row.partition)));
  const heads = places.map(({ head }) => head);
  const behind = places.flatMap(({ head: { partition, number }, from }) =>
    from !== undefined && from < number ? [{ partition, number: from }] : [],
  );
  const rows = behind.length === 0 ? [] : await readFeed(db, behind, limit, MAX_BYTES);
  return { events: rows.map(toFeedEvent), heads };
}

/** A cursor is unknown when it is beyond the head, or when another event has its number. */
function placeOf(row: FeedHeadRow, cursor: Asked | undefined): { head: FeedHead; from?: bigint } {
  const { partition, number } = row;
  const oldest = row.oldest ?? number + 1n;
  const head = { partition, number, oldest, restarted: false };
  if (!cursor) return { head };
  const isReplaced = row.event_id !== null && cursor.eventId !== undefined && cursor.eventId !== row.event_id;
  if (cursor.number <= number && !isReplaced) return { head, from: cursor.number };
  return { head: { ...head, restarted: true }, from: oldest - 1n };
}

function toFeedEvent(row: NumberedRow): FeedEvent {
  return {
    partition: row.partition,
    number: row.number,
    event: {
      eventId: uuidToId("evt", row.event_id),
      eventType: row.type,
      aggregateId: row.aggregate_id,
      version: row.version,
      occurredAt: row.occurred_at,
      orgId: row.org_id,
      traceparent: row.traceparent,
      requestId: row.request_id,
      payload: row.payload,
    },
  };
}
