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
  for (const message of received) {
    const number = numberOf(message);
    if (number === undefined) await buryStranger(consumer, message);
    else messages.push({ ...message, number });
  }
  const last = messages.at(-1);
  if (!last) return;
  const { behindFeed, failures } = await applyBatch(consumer, messages, { kind: "kafka" });
  for (const error of failures.values()) throw error;
  if (!behindFeed) return;

  const { db, spec, metrics } = consumer;
  metrics.gapFound(last.topic);
  await reader.catchUp(last.partition);
  const cursors = await readCursors(db, spec.group, last.topic);
  const cursor = cursors.find(({ partition }) => partition === last.partition);
  const newest = messages.reduce((most, { number }) => (number > most ? number : most), 0n);
  if (!cursor || cursor.number < newest)
    throw new Error(`the feed ${last.topic} has not reached number ${newest} of partition ${last.partition}`);
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
