import type { Bus, BusMessage, Topic } from "../bus/port";
import { LEAVE_TIMEOUT_MS } from "../bus/leaveGroup";
import { rejectOnAbort } from "../bus/waiting";
import { assert } from "../contract/errors";
import { uuidToId } from "../contract/ids";
import type { Database, Queryable } from "../db";
import { failpoint } from "../failpoint";
import type { Log } from "../log";
import type { Registry } from "../metrics";
import { createPause, type Pause } from "../pause";
import { channelOf, doorbellOf, ringFeed } from "./doorbell";
import { partitionOf } from "./partitionOf";
import { relayMetrics, type RelayMetrics } from "./relayMetrics";
import {
  markPublished,
  prepareRelaySession,
  readHeads,
  readPending,
  readUnpublished,
  stampEvents,
  tryLockRelay,
  type NumberedRow,
} from "./store";
import { startUpkeep } from "./upkeep";

export interface OutboxRelayOptions {
  db: Database;
  /** The feed of this schema's events. */
  topic: Topic;
  /** Kafka. Without it consumers read only the feed. */
  bus?: Bus | undefined;
  log: Log;
  registry: Registry;
  batchSize?: number;
  /** Poll interval without a wake-up, also of a stand-by that tries to become active. */
  pollMs?: number;
  /** How long the feed keeps events. */
  retainMs?: number;
}

export interface OutboxRelay {
  wake(): void;
  /** Finishes the batch in hand unless Kafka does not answer. The next relay publishes the rest. */
  close(): Promise<void>;
}

const DEFAULT_BATCH_SIZE = 1_000;
const DEFAULT_POLL_MS = 500;
const DEFAULT_RETAIN_MS = 7 * 86_400_000;
/**
 * Events committed within this time go together: each batch costs a commit here and one per
 * consumer.
 */
const LEAST_INTERVAL_MS = 50;
/** The same while events keep coming. */
const MOST_INTERVAL_MS = 200;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

interface Relay extends Required<Omit<OutboxRelayOptions, "bus">> {
  bus: Bus | undefined;
  metrics: RelayMetrics;
  /** Sleeps until woken, closed or out of time. */
  rest: Pause;
  /** The relay was closed, and Kafka has not answered since. */
  givenUp: AbortSignal;
}

/**
 * Numbers the committed events, then publishes them to Kafka in that order, at least once. Each
 * replica starts a relay. The schema's advisory lock picks the active one; another takes over
 * within a poll. A transaction that commits late gets later numbers, so no event is missed.
 */
export function startOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const givingUp = new AbortController();
  const relay: Relay = {
    batchSize: DEFAULT_BATCH_SIZE,
    pollMs: DEFAULT_POLL_MS,
    retainMs: DEFAULT_RETAIN_MS,
    ...options,
    bus: options.bus,
    metrics: relayMetrics(options.registry),
    rest: createPause(),
    givenUp: givingUp.signal,
  };
  const { partitions } = relay.topic;
  const upkeep = startUpkeep({ ...relay, partitions, withKafka: relay.bus !== undefined });
  const done = runUntilClosed(relay);
  return {
    wake: () => relay.rest.wake(),
    async close() {
      relay.rest.close();
      const late = setTimeout(() => givingUp.abort(new Error("the process ends")), LEAVE_TIMEOUT_MS);
      await Promise.all([done, upkeep.close()]);
      clearTimeout(late);
    },
  };
}

async function runUntilClosed(relay: Relay): Promise<void> {
  const { db, log, rest } = relay;
  for (let pauseMs = FIRST_PAUSE_MS; !rest.closed; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const startedMs = performance.now();
    try {
      await db.dedicated((connection) => relayOver(relay, connection));
    } catch (error) {
      log.warn({ err: error }, "the outbox relay was interrupted and will start again");
      if (performance.now() - startedMs > LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
      await rest.sleepUnwoken(pauseMs);
    }
  }
}

/** Lock and numbers share one session: a relay without the lock cannot assign numbers. */
async function relayOver(relay: Relay, connection: Queryable): Promise<void> {
  const { db, log, rest, pollMs, bus, givenUp } = relay;
  await prepareRelaySession(connection);
  while (!rest.closed && !(await tryLockRelay(connection, db.schema))) await rest.sleepUnwoken(pollMs);
  if (rest.closed) return;
  const { wakers } = doorbellOf(db, "outbox");
  const wakeRelay = (): void => rest.wake();
  const listener = await db.listen(channelOf(db.schema, "outbox"), wakeRelay);
  wakers.add(wakeRelay);
  log.info({ schema: db.schema }, "outbox relay active");
  const toPublish = createPause();
  const lost = new AbortController();
  const publishing =
    bus && publishUntilClosed(relay, bus, toPublish, AbortSignal.any([givenUp, lost.signal]));
  try {
    await stampUntilClosed(relay, connection, () => toPublish.wake());
  } catch (error) {
    lost.abort(error);
    throw error;
  } finally {
    wakers.delete(wakeRelay);
    toPublish.close();
    await Promise.all([listener.close(), publishing]);
  }
}

async function stampUntilClosed(relay: Relay, connection: Queryable, onStamped: () => void): Promise<void> {
  const { db, rest, pollMs, batchSize } = relay;
  const heads = await readHeads(connection, relay.topic.partitions);
  let intervalMs = LEAST_INTERVAL_MS;
  while (!rest.closed) {
    const readMs = performance.now();
    const events = await stampPending(relay, connection, heads);
    if (events > 0) {
      onStamped();
      ringFeed(db);
    }
    if (events === batchSize) continue;
    await rest.sleep(pollMs);
    const isBusy = performance.now() - readMs < intervalMs;
    intervalMs = isBusy ? Math.min(2 * intervalMs, MOST_INTERVAL_MS) : LEAST_INTERVAL_MS;
    await rest.sleepUnwoken(Math.max(0, readMs + intervalMs - performance.now()));
  }
}

/** Returns the number of newly numbered events. The rows are in the order of their insertion. */
async function stampPending(relay: Relay, connection: Queryable, heads: bigint[]): Promise<number> {
  const { topic, batchSize, bus, metrics } = relay;
  const rows = await readPending(connection, batchSize);
  if (rows.length === 0) return 0;
  const positions = rows.map((row) => {
    assert(row.topic === topic.name, `an event of ${row.topic} is in the feed ${topic.name}`);
    const partition = partitionOf(row.aggregate_id, topic.partitions);
    const number = heads[partition]! + 1n;
    heads[partition] = number;
    return { id: row.id, partition, number };
  });
  await failpoint("outbox.stamping");
  await stampEvents(connection, positions);
  await failpoint("outbox.stamped");
  if (!bus) metrics.published(rows);
  return rows.length;
}

/**
 * Publishes by number: a starting relay continues behind the last number that Kafka acknowledged.
 */
async function publishUntilClosed(
  relay: Relay,
  bus: Bus,
  toPublish: Pause,
  givenUp: AbortSignal,
): Promise<void> {
  const { db, log, pollMs, batchSize, metrics, topic } = relay;
  const perPartition = Math.ceil(batchSize / topic.partitions);
  let failures = 0;
  while (!toPublish.closed) {
    try {
      const rows = await readUnpublished(db, perPartition);
      if (rows.length > 0) {
        await rejectOnAbort(givenUp, bus.publish(rows.map(toMessage)));
        await markPublished(db, rows);
        metrics.published(rows);
      }
      failures = 0;
      if (rows.length < perPartition) await toPublish.sleep(pollMs);
    } catch (error) {
      if (toPublish.closed) return;
      metrics.failed();
      log.warn({ err: error }, "events could not be published; they will be published again");
      failures += 1;
      await toPublish.sleepUnwoken(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (failures - 1)));
    }
  }
}

/** The header names are those of the proto's EventEnvelope, beside the number in the feed. */
function toMessage(row: NumberedRow): BusMessage {
  return {
    topic: row.topic,
    partition: row.partition,
    key: row.aggregate_id,
    value: row.payload,
    headers: {
      feed_number: row.number.toString(),
      event_id: uuidToId("evt", row.event_id),
      event_type: row.type,
      aggregate_id: row.aggregate_id,
      version: row.version.toString(),
      occurred_at: row.occurred_at.toISOString(),
      org_id: row.org_id,
      traceparent: row.traceparent,
      request_id: row.request_id,
    },
  };
}
