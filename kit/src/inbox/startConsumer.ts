import type { ReceivedMessage } from "../bus/port";
import { assert } from "../contract/errors";
import type { Database } from "../db";
import type { Log } from "../log";
import type { Registry } from "../metrics";
import { type Pause, createPause } from "../pause";
import type { Consumer } from "./applyBatch";
import { consumerMetrics, type ConsumerMetrics } from "./consumerMetrics";
import type { ConsumerSpec } from "./events";
import { type FeedClient, type FeedReader, startFeedReader } from "./feedReader";
import { handleKafkaBatch } from "./kafkaBatch";
import { replayRequested } from "./replay";
import { pruneInboxWindow } from "./store";

export interface StartConsumerOptions {
  db: Database;
  spec: ConsumerSpec;
  /** The producers' feeds, by topic. */
  feeds: Readonly<Record<string, FeedClient>>;
  /** Whether Kafka brings the events too. */
  withKafka: boolean;
  log: Log;
  registry: Registry;
}

export interface RunningConsumer {
  /** Receives Kafka's messages of one partition. */
  handleBatch(messages: ReceivedMessage[]): Promise<void>;
  /** False when it has stopped moving without a reason: restart the process. */
  live(): boolean;
  /** Waits for the batch in hand. */
  close(): Promise<void>;
}

/** Less than a rebalance waits for a busy member, and much less than a stuck handler may take. */
const ALONE_MS = 20_000;
const LAG_EVERY_MS = 10_000;
const REPLAY_EVERY_MS = 2_000;
const PRUNE_EVERY_MS = 3_600_000;
const PRUNE_WINDOW = 5_000;
const PRUNE_WINDOWS_AT_ONCE = 1_000;
/** Twice the retention of Kafka and of the feeds. */
const RETAIN_MS = 14 * 86_400_000;
const LOWEST_UUID = "00000000-0000-0000-0000-000000000000";

/**
 * Consumes the feeds for the group: each event takes effect once, and an unhandled event becomes a
 * dead letter. Starts without Kafka: the feed readers do not need it.
 */
export function startConsumer(options: StartConsumerOptions): RunningConsumer {
  const { db, spec, feeds, withKafka, log, registry } = options;
  const rest = createPause();
  const metrics = consumerMetrics(registry, spec.group);
  const consumer: Consumer = { db, spec, log, rest, metrics, startedAt: new Date(), aloneMs: ALONE_MS };
  const readers = new Map(
    spec.topics.map((topic) => {
      const feed = feeds[topic];
      assert(feed, `${spec.group} reads ${topic}: name its producer in the service's feeds`);
      return [topic, startFeedReader({ consumer, topic, feed, withKafka })];
    }),
  );
  const rounds = [
    everyRound(consumer, LAG_EVERY_MS, () => measureLag([...readers.values()], metrics, rest)),
    everyRound(consumer, REPLAY_EVERY_MS, () => replayRequested(consumer)),
    everyRound(consumer, PRUNE_EVERY_MS, () => pruneInbox(db, spec.group)),
  ];
  return {
    handleBatch: (messages) => handleKafkaBatch(consumer, readers.get(messages[0]!.topic)!, messages),
    live: () => [...readers.values()].every((reader) => reader.live()),
    async close() {
      rest.close();
      metrics.lag([]);
      await Promise.all([...readers.values()].map((reader) => reader.close()));
      await Promise.all(rounds);
    },
  };
}

async function everyRound(
  { log, spec, rest }: Consumer,
  everyMs: number,
  round: () => Promise<unknown>,
): Promise<void> {
  while (!rest.closed) {
    await round().catch((error: unknown) => {
      if (!rest.closed) log.warn({ err: error, group: spec.group }, "upkeep of a consumer failed");
    });
    await rest.sleepUnwoken(everyMs);
  }
}

/** Exported for its test. */
export async function measureLag(
  readers: readonly Pick<FeedReader, "lag">[],
  metrics: Pick<ConsumerMetrics, "lag">,
  rest: Pick<Pause, "closed"> = { closed: false },
): Promise<void> {
  try {
    const lag = await Promise.all(readers.map((reader) => reader.lag()));
    // A consumer that closes has removed its series already.
    if (!rest.closed) metrics.lag(lag.flat());
  } catch (error) {
    if (!rest.closed) metrics.lag([]);
    throw error;
  }
}

/** Exported for its test. */
export async function pruneInbox(
  db: Database,
  group: string,
  retainMs = RETAIN_MS,
  window = PRUNE_WINDOW,
): Promise<void> {
  let afterId = LOWEST_UUID;
  for (let count = 0; count < PRUNE_WINDOWS_AT_ONCE; count += 1) {
    const { last_id: lastId, old } = await pruneInboxWindow(db, group, afterId, retainMs, window);
    if (lastId === null || old === 0) return;
    afterId = lastId;
  }
}
