import type { ReceivedMessage } from "../bus/port";
import { isTransient, tx, type Database, type Tx } from "../db";
import type { Log } from "../log";
import type { Pause } from "../pause";
import type { ConsumerMetrics } from "./consumerMetrics";
import { decodeEvent, type ConsumerSpec } from "./events";
import { runHandlers, type Due } from "./runHandlers";
import { findTaken, insertDeadLetter, takeEvents } from "./store";

export interface Consumer {
  db: Database;
  spec: ConsumerSpec;
  log: Log;
  metrics: ConsumerMetrics;
  rest: Pause;
  /** How long a batch may go one by one. */
  aloneMs: number;
}

/** A message that is for us, decoded as far as it can be. */
type Entry =
  | ({ kind: "event"; message: ReceivedMessage } & Due)
  | { kind: "malformed"; message: ReceivedMessage; error: unknown };

type Outcome = "processed" | "duplicate" | "dead";

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Resolves when each message has had its effect, or is known to have had it, or is a dead letter. The batch goes in one transaction; if
 * that fails, whoever is to blame is found by going one by one. Rejects when that takes too long: the bus rests, and brings all of it again.
 */
export async function handleBatch(consumer: Consumer, messages: ReceivedMessage[]): Promise<void> {
  const { db, spec, log, metrics } = consumer;
  const startMs = performance.now();
  const entries = messages.map((message) => sort(consumer, message)).filter((entry) => entry !== undefined);
  if (entries.length > 0) {
    try {
      count(consumer, entries, await tx(db, (tx) => handleAll(tx, consumer, entries)));
    } catch (error) {
      log.warn(
        { err: error, group: spec.group, messages: entries.length },
        "a batch failed; going one by one",
      );
      await handleOneByOne(consumer, entries);
    }
  }
  metrics.batchTook((performance.now() - startMs) / 1000);
}

function sort({ spec, metrics }: Consumer, message: ReceivedMessage): Entry | undefined {
  const type = message.headers.event_type;
  const handler = type !== undefined && Object.hasOwn(spec.handlers, type) ? spec.handlers[type] : undefined;
  if (type !== undefined && !handler) {
    metrics.count(message.topic, "skipped");
    return undefined;
  }
  try {
    return { kind: "event", message, event: decodeEvent(message), handler: handler! };
  } catch (error) {
    return { kind: "malformed", message, error };
  }
}

async function handleAll(tx: Tx, { spec: { group }, log }: Consumer, entries: Entry[]): Promise<Outcome[]> {
  const events = entries.filter((entry) => entry.kind === "event");
  const fresh =
    events.length > 0
      ? await takeEvents(
          tx,
          group,
          events.map(({ event }) => event.id),
        )
      : new Set();
  const outcomes: Outcome[] = [];
  const due: Due[] = [];
  for (const entry of entries) {
    if (entry.kind === "malformed") {
      await insertDeadLetter(tx, group, entry.message, entry.error);
      outcomes.push("dead");
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

/**
 * Never past a message that is not done: those behind it may be of its key. What was done before time was up is in the inbox, so the next time
 * begins behind it, and each time does one message at least.
 */
async function handleOneByOne(consumer: Consumer, entries: Entry[]): Promise<void> {
  const fresh = await dropTaken(consumer, entries);
  const untilMs = performance.now() + consumer.aloneMs;
  for (const [index, entry] of fresh.entries()) {
    await handleAlone(consumer, entry, untilMs);
    const left = fresh.length - index - 1;
    if (left > 0 && performance.now() >= untilMs) throw new Error(`${left} messages are left for next time`);
  }
}

/** With one question: going through them one by one could take all the time there is. */
async function dropTaken(consumer: Consumer, entries: Entry[]): Promise<Entry[]> {
  const ids = entries.flatMap((entry) => (entry.kind === "event" ? [entry.event.id] : []));
  const taken = await findTaken(consumer.db, consumer.spec.group, ids).catch((error: unknown) => {
    for (const { message } of entries) consumer.metrics.count(message.topic, "retried");
    throw error;
  });
  return entries.filter((entry) => {
    if (entry.kind === "malformed" || !taken.has(entry.event.id)) return true;
    consumer.metrics.count(entry.message.topic, "duplicate");
    return false;
  });
}

/** Tries until it is done, closed or out of time: as long as the trouble is the database's or a dependency's, the messages behind would meet it too. */
async function handleAlone(consumer: Consumer, entry: Entry, untilMs: number): Promise<void> {
  const { spec, log, metrics, rest } = consumer;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      count(consumer, [entry], [await handleOrBury(consumer, entry)]);
      return;
    } catch (error) {
      metrics.count(entry.message.topic, "retried");
      log.warn({ err: error, group: spec.group, ...placeOf(entry) }, "a message will be tried again");
      if (performance.now() + pauseMs >= untilMs) throw error;
      await rest.sleepUnwoken(pauseMs * (0.5 + Math.random() / 2));
      if (rest.closed) throw error;
    }
  }
}

async function handleOrBury(consumer: Consumer, entry: Entry): Promise<Outcome> {
  const { db, spec, log } = consumer;
  try {
    const [outcome] = await tx(db, (tx) => handleAll(tx, consumer, [entry]));
    return outcome!;
  } catch (error) {
    if (isTransient(error)) throw error;
    const buried = await tx(db, (tx) => bury(tx, spec.group, entry, error));
    if (!buried) return "duplicate";
    log.error({ err: error, group: spec.group, ...placeOf(entry) }, "a message became a dead letter");
    return "dead";
  }
}

/** With the inbox row, so that the event is not tried again when it comes again. */
async function bury(tx: Tx, group: string, entry: Entry, error: unknown): Promise<boolean> {
  if (entry.kind === "event" && (await takeEvents(tx, group, [entry.event.id])).size === 0) return false;
  await insertDeadLetter(tx, group, entry.message, error);
  return true;
}

function count({ metrics }: Consumer, entries: Entry[], outcomes: Outcome[]): void {
  entries.forEach(({ message }, index) => metrics.count(message.topic, outcomes[index]!));
}

function placeOf({ message: { topic, partition, offset } }: Entry): {
  topic: string;
  partition: number;
  offset: string;
} {
  return { topic, partition, offset };
}
