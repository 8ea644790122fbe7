import { DomainError } from "@wonrail/kit/contract/errors";
import { type Database } from "@wonrail/kit/db";
import { type Bell } from "../bell";
import { type EventType } from "@wonrail/kit/contract/eventTypes";
import { listEvents as readEvents, type PublicEvent } from "../store/events";
import { findKeptRange, type KeptRange } from "./findKeptRange";

export interface EventsWanted {
  orgId: string;
  /** The last sequence that the caller has; null before the first. */
  after: bigint | null;
  types: EventType[];
  objectId: string | null;
  isDescending: boolean;
  limit: number;
  /** How long to wait for an event when there is none. */
  waitMs: number;
}

export interface EventList {
  events: PublicEvent[];
  /** The cursor behind these events and behind those that the filters left out. */
  nextAfter: bigint;
  hasMore: boolean;
}

export interface ListDeps {
  db: Database;
  bell: Bell;
}

/** Lists events behind a cursor. EVT_002 when events behind the cursor are no longer kept. */
export async function listEvents(deps: ListDeps, wanted: EventsWanted): Promise<EventList> {
  const endMs = performance.now() + wanted.waitMs;
  for (let after = wanted.after; ;) {
    const remainingMs = endMs - performance.now();
    // The wait begins before the read, so that it hears of events that the read misses.
    const wait = remainingMs > 0 ? deps.bell.begin(wanted.orgId, remainingMs) : undefined;
    try {
      const found = await readOnce(deps.db, { ...wanted, after });
      if (found.events.length > 0 || !wait || deps.bell.isEnded) return found;
      await wait.over;
      after = found.nextAfter;
    } finally {
      wait?.cancel();
    }
  }
}

async function readOnce(db: Database, wanted: EventsWanted): Promise<EventList> {
  const kept = await findKeptRange(db, wanted.orgId);
  return wanted.isDescending ? readDown(db, wanted, kept.last) : readUp(db, wanted, kept);
}

async function readUp(db: Database, wanted: EventsWanted, { last, oldest }: KeptRange): Promise<EventList> {
  const after = wanted.after ?? oldest - 1n;
  if (after < oldest - 1n) throw new DomainError("EVT_002", { oldestAfter: (oldest - 1n).toString() });
  const { events, hasMore } = await readPage(db, wanted, after, last);
  const read = hasMore ? events.at(-1)!.sequence : last;
  return { events, hasMore, nextAfter: read > after ? read : after };
}

/** In descending order the cursor is the oldest sequence that the caller has. */
async function readDown(db: Database, wanted: EventsWanted, last: bigint): Promise<EventList> {
  const upTo = wanted.after === null ? last : wanted.after - 1n;
  const { events, hasMore } = await readPage(db, wanted, 0n, upTo);
  return { events, hasMore, nextAfter: events.at(-1)?.sequence ?? 0n };
}

async function readPage(db: Database, wanted: EventsWanted, after: bigint, upTo: bigint) {
  const rows = await readEvents(db, { ...wanted, after, upTo, limit: wanted.limit + 1 });
  return { events: rows.slice(0, wanted.limit), hasMore: rows.length > wanted.limit };
}
