import { type Id, idToUuid, isId } from "../contract/ids";
import { isTransient, tx, type Database, type Tx } from "../db";
import { groupBy } from "../groupBy";
import type { Log } from "../log";
import type { Pause } from "../pause";
import type { ConsumerMetrics, MessageOutcome } from "./consumerMetrics";
import { type Cursor, lockCursors, saveCursors } from "./cursors";
import { decodeEvent, type ConsumerSpec } from "./events";
import { type FeedMessage, type Origin, planBatch } from "./planBatch";
import { runHandlers, type Due } from "./runHandlers";
import { findTaken, insertDeadLetter, takeEvents } from "./store";

export interface Consumer {
  db: Database;
  spec: ConsumerSpec;
  log: Log;
  metrics: ConsumerMetrics;
  rest: Pause;
  /** When this process began to consume. */
  startedAt: Date;
  /** How long a failed batch is handled one by one before the rest waits for the next attempt. */
  aloneMs: number;
}

export interface Applied {
  /** True when Kafka left out events: read the feed. */
  behindFeed: boolean;
  /**
   * By partition: a transient error, which later events would meet too. They must be delivered
   * again.
   */
  failures: ReadonlyMap<number, unknown>;
}

/**
 * Handles events of one topic, each partition in order. Each event takes effect once, or becomes a
 * dead letter. The batch is one transaction with its cursors. If that fails, the events are
 * handled one by one to find the bad one.
 */
export async function applyBatch(
  consumer: Consumer,
  messages: readonly FeedMessage[],
  origin: Origin,
): Promise<Applied> {
  const startMs = performance.now();
  try {
    return { behindFeed: await apply(consumer, messages, origin, handleDue), failures: new Map() };
  } catch (error) {
    const { log, spec } = consumer;
    log.warn(
      { err: error, group: spec.group, messages: messages.length },
      "a batch failed; going one by one",
    );
    return await applyOneByOne(consumer, messages, origin);
  } finally {
    consumer.metrics.batchTook((performance.now() - startMs) / 1000);
  }
}

type HandleEvents = (tx: Tx, consumer: Consumer, entries: Entry[]) => Promise<MessageOutcome[]>;

/** Resolves to true when Kafka left out events. */
async function apply(
  consumer: Consumer,
  messages: readonly FeedMessage[],
  origin: Origin,
  handle: HandleEvents,
): Promise<boolean> {
  const { db, spec, metrics, log } = consumer;
  const { group } = spec;
  const topic = messages[0]!.topic;
  const done = await tx(db, async (tx) => {
    const partitions = [...new Set(messages.map(({ partition }) => partition))].sort((a, b) => a - b);
    const plan = planBatch(messages, await lockCursors(tx, group, topic, partitions), origin);
    const isKnown = origin.kind === "feed" || (await areKnown(tx, group, plan.old));
    if (plan.due.length === 0) return { plan, isKnown, outcomes: [] };
    const outcomes = await handle(
      tx,
      consumer,
      plan.due.map((message) => entryOf(spec, message)),
    );
    saveCursors(tx, group, topic, cursorsAfter(plan.due));
    return { plan, isKnown, outcomes };
  });
  const { plan, isKnown, outcomes } = done;
  for (const outcome of outcomes) metrics.count(topic, outcome);
  metrics.count(topic, "duplicate", plan.old.length);
  if (plan.pruned > 0n) {
    log.error(
      { group, topic, events: plan.pruned.toString() },
      "events left the feed before the group read them",
    );
    metrics.pruned(topic, Number(plan.pruned));
  }
  return !isKnown || plan.behindGap.length > 0;
}

async function areKnown(tx: Tx, group: string, old: readonly FeedMessage[]): Promise<boolean> {
  const ids = idsOf(old);
  if (ids.length === 0) return true;
  return (await findTaken(tx, group, ids)).size === new Set(ids).size;
}

/** Leaves out malformed ids: no inbox has them. */
function idsOf(messages: readonly FeedMessage[]): Id<"evt">[] {
  return messages.map(({ headers }) => headers.event_id).filter((id): id is Id<"evt"> => isId("evt", id));
}

function cursorsAfter(due: readonly FeedMessage[]): Cursor[] {
  const last = new Map(due.map((message) => [message.partition, message]));
  return [...last.values()].map(({ partition, number, headers: { event_id: id } }) => ({
    partition,
    number,
    eventId: isId("evt", id) ? idToUuid(id) : null,
  }));
}

/** A message, decoded as far as possible. */
type Entry = { message: FeedMessage } & (
  | ({ kind: "event" } & Due)
  | { kind: "skipped" }
  | { kind: "malformed"; error: unknown }
);

function entryOf({ handlers }: ConsumerSpec, message: FeedMessage): Entry {
  const type = message.headers.event_type;
  const handler = type !== undefined && Object.hasOwn(handlers, type) ? handlers[type] : undefined;
  if (type !== undefined && !handler) return { kind: "skipped", message };
  try {
    return { kind: "event", message, event: decodeEvent(message), handler: handler! };
  } catch (error) {
    return { kind: "malformed", message, error };
  }
}

/** The inbox also stores skipped events, so that it knows the event of every number. */
async function handleDue(
  tx: Tx,
  { spec: { group }, log }: Consumer,
  entries: Entry[],
): Promise<MessageOutcome[]> {
  const fresh = await takeEvents(tx, group, idsOf(entries.map(({ message }) => message)));
  const outcomes: MessageOutcome[] = [];
  const due: Due[] = [];
  for (const entry of entries) {
    if (entry.kind === "malformed") {
      await insertDeadLetter(tx, group, entry.message, entry.error);
      outcomes.push("dead");
    } else if (entry.kind === "skipped") {
      outcomes.push("skipped");
    } else if (fresh.delete(entry.event.id)) {
      due.push(entry);
      outcomes.push("processed");
    } else {
      outcomes.push("duplicate");
    }
  }
  await runHandlers(tx, due, log);
  return outcomes;
}

/** Partitions run concurrently, so that a failing one delays no other. */
async function applyOneByOne(
  consumer: Consumer,
  messages: readonly FeedMessage[],
  origin: Origin,
): Promise<Applied> {
  const untilMs = performance.now() + consumer.aloneMs;
  const failures = new Map<number, unknown>();
  let behindFeed = false;
  const partitions = [...groupBy([...messages], ({ partition }) => partition)];
  await Promise.all(
    partitions.map(async ([partition, ofPartition]) => {
      try {
        behindFeed = (await applyInOrder(consumer, ofPartition, origin, untilMs)) || behindFeed;
      } catch (error) {
        failures.set(partition, error);
      }
    }),
  );
  return { behindFeed, failures };
}

/** No event passes an unfinished earlier one of its partition. */
async function applyInOrder(
  consumer: Consumer,
  messages: readonly FeedMessage[],
  origin: Origin,
  untilMs: number,
): Promise<boolean> {
  for (const [index, message] of messages.entries()) {
    if (await applyOrBury(consumer, message, origin)) return true;
    const left = messages.length - index - 1;
    if (left > 0 && performance.now() >= untilMs)
      throw new Error(`${left} events are left for the next time`);
  }
  return false;
}

async function applyOrBury(consumer: Consumer, message: FeedMessage, origin: Origin): Promise<boolean> {
  const { spec, log, metrics } = consumer;
  const { topic, partition, number } = message;
  try {
    return await apply(consumer, [message], origin, handleDue);
  } catch (error) {
    if (isTransient(error)) {
      metrics.count(topic, "retried");
      throw error;
    }
    const behindFeed = await apply(consumer, [message], origin, (tx, consumer, entries) =>
      bury(tx, consumer, entries, error),
    );
    const place = { group: spec.group, topic, partition, number: number.toString() };
    log.error({ err: error, ...place }, "an event became a dead letter");
    return behindFeed;
  }
}

/** Written with the inbox row, so that a redelivered event is not tried again. */
async function bury(
  tx: Tx,
  { spec: { group } }: Consumer,
  entries: Entry[],
  error: unknown,
): Promise<MessageOutcome[]> {
  const [entry] = entries as [Entry];
  const fresh = await takeEvents(tx, group, idsOf([entry.message]));
  if (entry.kind === "event" && fresh.size === 0) return ["duplicate"];
  await insertDeadLetter(tx, group, entry.message, error);
  return ["dead"];
}
