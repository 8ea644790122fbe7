import { randomUUID } from "node:crypto";
import type { FeedHead, ListEventsRequest, ListEventsResponse } from "@wonrail/proto/common/v1/feed";
import type { PartitionLag } from "./consumerMetrics";
import { type Liveness, watchLiveness } from "../bus/liveness";
import { createRedelivery, type Redelivery } from "../bus/redelivery";
import { uuidToId } from "../contract/ids";
import { type Applied, applyBatch, type Consumer } from "./applyBatch";
import { type Cursor, ensureCursors, leaseReader, readCursors, releaseReader, resetCursor } from "./cursors";
import { toMessage } from "./envelopes";

/** A producer's feed: its FeedService. */
export interface FeedClient {
  listEvents(
    request: ListEventsRequest,
    options?: { timeoutMs?: number; signal?: AbortSignal },
  ): Promise<ListEventsResponse>;
}

export interface FeedReader {
  /** Handles all that the feed has of the partition behind its cursor. */
  catchUp(partition: number): Promise<void>;
  lag(): Promise<PartitionLag[]>;
  /** False when the reader has stopped moving without a reason. */
  live(): boolean;
  close(): Promise<void>;
}

export interface FeedReaderOptions {
  consumer: Consumer;
  topic: string;
  feed: FeedClient;
  /** Kafka brings the events, and the reader only looks after partitions that are quiet. */
  withKafka: boolean;
}

const MAX_EVENTS = 800;
const CALL_MS = 5_000;
/** Longer than a round without events, so that a reader that works keeps its lease. */
const LEASE_MS = 3_000;
const STANDBY_LOOK_EVERY_MS = 500;
/** How long the feed keeps a call open without Kafka. */
const WAIT_MS = 1_500;
/** With Kafka: a partition is quiet when its cursor has not moved for so long. */
const QUIET_MS = 2_000;
const LOOK_EVERY_MS = 1_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** Without a round for so long the reader counts as stuck. */
const STILL_AFTER_MS = 60_000;

interface Reader extends FeedReaderOptions {
  holder: string;
  liveness: Liveness;
  closing: AbortSignal;
  redelivery: Redelivery;
  /** The partitions that failed, and until when they rest. */
  resting: Map<number, number>;
}

/**
 * Reads a producer's feed for a consumer group. A lease picks one replica of the group. Without
 * Kafka the feed is the transport; with Kafka it fills gaps.
 */
export function startFeedReader(options: FeedReaderOptions): FeedReader {
  const { consumer, topic, withKafka } = options;
  const { db, spec } = consumer;
  const closing = new AbortController();
  const liveness = watchLiveness(STILL_AFTER_MS);
  const reader: Reader = {
    ...{ ...options, holder: randomUUID(), liveness, closing: closing.signal },
    redelivery: createRedelivery(),
    resting: new Map(),
  };
  const done = readUntilClosed(reader);
  return {
    async catchUp(partition) {
      const ofPartition = async () =>
        (await readCursors(db, spec.group, topic)).filter((cursor) => cursor.partition === partition);
      for (;;) {
        const { events, failures } = await readOnce(reader, await ofPartition(), 0);
        for (const error of failures.values()) throw error;
        if (events === 0) return;
      }
    },
    lag: () => readLag(reader),
    live: () => liveness.live(),
    async close() {
      closing.abort(new Error("the consumer closes"));
      await done;
      liveness.stop();
      await releaseReader(db, spec.group, topic, reader.holder).catch(() => undefined);
    },
  };

  async function readUntilClosed(reader: Reader): Promise<void> {
    const { rest, log } = consumer;
    let pauseMs = FIRST_PAUSE_MS;
    while (!rest.closed) {
      liveness.recordProgress();
      try {
        const isReader = await leaseReader(db, spec.group, topic, reader.holder, LEASE_MS);
        if (!isReader) await rest.sleepUnwoken(STANDBY_LOOK_EVERY_MS);
        else if (withKafka) await repairQuiet(reader);
        else await readNext(reader);
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        if (rest.closed) return;
        log.warn(
          { err: error, group: spec.group, topic, pauseMs },
          "the feed could not be read; it is read again",
        );
        await rest.sleepUnwoken(pauseMs * (0.5 + Math.random() / 2));
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
    }
  }
}

async function readNext(reader: Reader): Promise<void> {
  const { consumer } = reader;
  const known = await knownCursors(reader);
  const awake = withoutResting(reader, known);
  if (awake.length === 0) return consumer.rest.sleepUnwoken(STANDBY_LOOK_EVERY_MS);
  await readAndRest(reader, awake, awake.length < known.length ? STANDBY_LOOK_EVERY_MS : WAIT_MS);
}

function withoutResting({ resting }: Reader, cursors: Cursor[]): Cursor[] {
  const nowMs = performance.now();
  return cursors.filter(({ partition }) => (resting.get(partition) ?? 0) <= nowMs);
}

/**
 * A partition with a failed event rests with growing pauses, and the others continue. Returns the
 * number of events.
 */
async function readAndRest(reader: Reader, cursors: Cursor[], waitMs: number): Promise<number> {
  const { consumer, topic, redelivery, resting } = reader;
  const { events, failures } = await readOnce(reader, cursors, waitMs);
  for (const { partition } of cursors) {
    if (!failures.has(partition)) {
      redelivery.done(`${partition}`);
      continue;
    }
    const pauseMs = redelivery.failed(`${partition}`);
    resting.set(partition, performance.now() + pauseMs);
    consumer.log.warn(
      { err: failures.get(partition), group: consumer.spec.group, topic, partition, pauseMs },
      "an event failed, its partition is read again",
    );
  }
  return events;
}

/** Asks the feed for its partitions when the group knows none yet. */
async function knownCursors(reader: Reader): Promise<Cursor[]> {
  const { consumer, topic } = reader;
  const { db, spec } = consumer;
  const cursors = await readCursors(db, spec.group, topic);
  if (cursors.length > 0) return cursors;
  await readOnce(reader, [], 0);
  return readCursors(db, spec.group, topic);
}

/** Reads on while the quiet partitions bring events, then rests. */
async function repairQuiet(reader: Reader): Promise<void> {
  const { consumer, topic, holder } = reader;
  const { db, spec, rest, metrics } = consumer;
  await knownCursors(reader);
  let cursors = withoutResting(reader, await readCursors(db, spec.group, topic, QUIET_MS));
  const partitions = new Set(cursors.map(({ partition }) => partition));
  while (cursors.length > 0) {
    const events = await readAndRest(reader, cursors, 0);
    metrics.repaired(topic, events);
    if (events === 0 || rest.closed) break;
    if (!(await leaseReader(db, spec.group, topic, holder, LEASE_MS))) return;
    const all = await readCursors(db, spec.group, topic);
    cursors = withoutResting(reader, all).filter(({ partition }) => partitions.has(partition));
  }
  await rest.sleepUnwoken(LOOK_EVERY_MS);
}

/**
 * Calls the feed once and handles the answer. Returns the number of events, and the errors by
 * partition.
 */
async function readOnce(
  reader: Reader,
  cursors: Cursor[],
  waitMs: number,
): Promise<{ events: number; failures: Applied["failures"] }> {
  const { consumer, topic, liveness } = reader;
  const { events, heads } = await ask(reader, cursors, MAX_EVENTS, waitMs);
  const after = new Map(cursors.map(({ partition, number }) => [partition, number]));
  for (const head of heads) {
    const cursor = cursors.find(({ partition }) => partition === head.partition);
    if (!cursor || !head.restarted) continue;
    after.set(head.partition, head.oldest - 1n);
    await restart(consumer, topic, cursor, head);
  }
  if (heads.length > cursors.length) await addCursors(consumer, topic, heads);
  if (events.length === 0) return { events: 0, failures: new Map() };
  const messages = events.map(({ partition, number, event }) =>
    toMessage({ topic, partition, number, envelope: event! }),
  );
  const { failures } = await liveness.during(() => applyBatch(consumer, messages, { kind: "feed", after }));
  return { events: events.length, failures };
}

/** The producer's database was restored: its feed is read again, and the inbox drops the known events. */
async function restart(
  { db, spec, log, metrics }: Consumer,
  topic: string,
  cursor: Cursor,
  { partition, number, oldest }: FeedHead,
): Promise<void> {
  const numbers = { cursor: `${cursor.number}`, head: `${number}`, from: `${oldest}` };
  log.error(
    { group: spec.group, topic, partition, ...numbers },
    "the producer was restored to an earlier state: its feed is read again from the oldest event",
  );
  metrics.restarted(topic);
  await resetCursor(db, spec.group, topic, cursor, oldest - 1n);
}

/** The feed names its partitions. A group that is new reads each of them from the beginning. */
async function addCursors({ db, spec }: Consumer, topic: string, heads: FeedHead[]): Promise<void> {
  const partitions = heads.map(({ partition }) => partition);
  const cursors = await readCursors(db, spec.group, topic);
  if (cursors.length < heads.length) await ensureCursors(db, spec.group, topic, partitions);
}

function ask(
  { topic, feed, closing, consumer }: Reader,
  cursors: Cursor[],
  limit: number,
  waitMs: number,
): Promise<ListEventsResponse> {
  consumer.metrics.feedRead(topic);
  return feed.listEvents(
    {
      topic,
      cursors: cursors.map(({ partition, number, eventId }) => ({
        partition,
        number,
        eventId: eventId === null ? undefined : uuidToId("evt", eventId),
      })),
      limit,
      waitMs,
    },
    { timeoutMs: waitMs + CALL_MS, signal: closing },
  );
}

/** Each cursor's distance to the head, and the age of the first event behind it. */
async function readLag(reader: Reader): Promise<PartitionLag[]> {
  const { consumer, topic } = reader;
  const cursors = await readCursors(consumer.db, consumer.spec.group, topic);
  const { events, heads } = await ask(reader, cursors, Math.max(1, cursors.length), 0);
  return heads.map(({ partition, number }) => {
    const read = cursors.find((cursor) => cursor.partition === partition)?.number ?? 0n;
    const next = events.find((event) => event.partition === partition)?.event?.occurredAt;
    const behind = number > read ? Number(number - read) : 0;
    const oldestAgeMs = behind === 0 || !next ? 0 : Math.max(0, Date.now() - next.getTime());
    return { topic, partition, messages: behind, oldestAgeMs };
  });
}
