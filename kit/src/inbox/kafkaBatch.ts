import type { ReceivedMessage } from "../bus/port";
import { tx } from "../db";
import { applyBatch, type Consumer } from "./applyBatch";
import { readCursors } from "./cursors";
import { MalformedEventError } from "./events";
import type { FeedReader } from "./feedReader";
import type { FeedMessage } from "./planBatch";
import { insertDeadLetter } from "./store";

/**
 * Handles Kafka's messages of one partition. If Kafka left numbers out or repeats them with other
 * events, the feed is read up to its head first. Rejects on a transient error, also of the feed:
 * Kafka delivers again.
 */
export async function handleKafkaBatch(
  consumer: Consumer,
  reader: FeedReader,
  received: ReceivedMessage[],
): Promise<void> {
  const messages: FeedMessage[] = [];
  const early: FeedMessage[] = [];
  for (const message of received) {
    const number = numberOf(message);
    if (number === undefined) await buryStranger(consumer, message);
    else (isEarly(consumer, message) ? early : messages).push({ ...message, number });
  }
  if (early.length > 0) await readEarly(consumer, reader, early);
  const last = messages.at(-1);
  if (!last) return;
  const { behindFeed, failures } = await applyBatch(consumer, messages, { kind: "kafka" });
  for (const error of failures.values()) throw error;
  if (!behindFeed) return;

  consumer.metrics.gapFound(last.topic);
  await reader.catchUp(last.partition);
  const newest = messages.reduce((most, { number }) => (number > most ? number : most), 0n);
  if ((await cursorOf(consumer, last)) < newest)
    throw new Error(`the feed ${last.topic} has not reached number ${newest} of partition ${last.partition}`);
}

/** Whether the event is older than this process. Malformed times are judged with the event. */
function isEarly({ startedAt }: Consumer, { headers }: ReceivedMessage): boolean {
  return Date.parse(headers.occurred_at ?? "") < startedAt.getTime();
}

/**
 * Reads events from before the start from the feed. Kafka may keep events that the producer lost in
 * a restore, and these must have no effect. A restore comes with new processes, so later events are
 * the feed's.
 */
async function readEarly(consumer: Consumer, reader: FeedReader, early: FeedMessage[]): Promise<void> {
  const { topic, partition } = early[0]!;
  await reader.catchUp(partition);
  const head = await cursorOf(consumer, { topic, partition });
  const lost = early.filter(({ number }) => number > head).length;
  if (lost === 0) return;
  consumer.metrics.restarted(topic);
  consumer.log.error(
    { group: consumer.spec.group, topic, partition, head: `${head}`, lost },
    "the producer was restored to an earlier state: events that only Kafka has are left out",
  );
}

async function cursorOf(
  { db, spec }: Consumer,
  { topic, partition }: Pick<FeedMessage, "topic" | "partition">,
): Promise<bigint> {
  const cursors = await readCursors(db, spec.group, topic);
  return cursors.find((cursor) => cursor.partition === partition)?.number ?? 0n;
}

function numberOf({ headers: { feed_number: text } }: ReceivedMessage): bigint | undefined {
  return text !== undefined && /^[1-9]\d{0,17}$/.test(text) ? BigInt(text) : undefined;
}

/** A message without a number stems from no relay of this product. It moves no cursor. */
async function buryStranger({ db, spec, metrics, log }: Consumer, message: ReceivedMessage): Promise<void> {
  const { topic, partition, offset } = message;
  const error = new MalformedEventError("the header feed_number is absent or malformed");
  await tx(db, (tx) => insertDeadLetter(tx, spec.group, { ...message, number: null }, error));
  metrics.count(topic, "dead");
  log.error(
    { group: spec.group, topic, partition, offset },
    "a message that is no event became a dead letter",
  );
}
