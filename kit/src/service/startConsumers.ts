import { once } from "node:events";
import { type Bus, type Subscription, type Topic, TopicRefusedError } from "../bus";
import { type Database } from "../db";
import { type ConsumerSpec, type FeedClient, type RunningConsumer, startConsumer } from "../inbox";
import { type Log } from "../log";
import { Counter, Gauge, type Registry } from "../metrics";
import { createPause } from "../pause";

export interface StartConsumersOptions {
  db: Database;
  /** Kafka. Without it the consumers read only the feeds. */
  bus: Bus | undefined;
  /** The topics that this service publishes to. */
  topics: Topic[];
  consumers: ConsumerSpec[];
  /** The producers' feeds, by topic. */
  feeds: Readonly<Record<string, FeedClient>>;
  log: Log;
  registry: Registry;
  /** A topic of this service is unsafe: the process must not go on. */
  fail: (error: unknown) => void;
}

export interface RunningConsumers {
  /** A consumer that waits for Kafka is live: a restart would not bring Kafka back. */
  live(): boolean;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const MAX_BATCH = 800;

/**
 * Starts the consumers, and joins Kafka in the background for as long as it takes. While Kafka is
 * away the feeds deliver events, so the process serves requests and handles events. A crashed
 * subscription is replaced.
 */
export function startConsumers(options: StartConsumersOptions): RunningConsumers {
  const { db, bus, topics, consumers: specs, feeds, log, registry, fail } = options;
  const stop = new AbortController();
  const { signal } = stop;
  const rest = createPause();
  const withKafka = bus !== undefined;
  const consumers = specs.map((spec) => ({
    spec,
    consumer: startConsumer({ db, spec, feeds, withKafka, log, registry }),
  }));
  const subscriptions = new Map<string, Subscription>();
  new Gauge({
    name: "consumer_joined",
    help: "1 while this process consumes for the group, with Kafka as a member of it; 0 while it does not",
    labelNames: ["group"],
    registers: [registry],
    collect() {
      for (const { spec, consumer } of consumers) {
        const isJoined = !withKafka || subscriptions.get(spec.group)?.live() === true;
        this.set({ group: spec.group }, isJoined && consumer.live() ? 1 : 0);
      }
    },
  });
  const crashes = new Counter({
    name: "consumer_crashes_total",
    help: "Kafka subscriptions that stopped and were replaced",
    labelNames: ["group"],
    registers: [registry],
  });
  for (const { group } of specs) crashes.inc({ group }, 0);

  async function persist<T>(problem: string, work: () => Promise<T>): Promise<T | undefined> {
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return undefined;
        if (error instanceof TopicRefusedError) return void fail(error);
        log.warn({ err: error, pauseMs }, `${problem}; the feeds bring the events meanwhile`);
      }
      await rest.sleepUnwoken(pauseMs);
    }
    return undefined;
  }

  async function keepSubscribed(bus: Bus, { group, topics }: ConsumerSpec, consumer: RunningConsumer) {
    while (!signal.aborted) {
      const crashed = new AbortController();
      const subscription = await persist(`${group} could not join Kafka`, () =>
        bus.subscribe({
          group,
          topics,
          maxBatch: MAX_BATCH,
          handleBatch: (messages) => consumer.handleBatch(messages),
          onCrash(error) {
            log.warn({ err: error, group }, "the Kafka subscription crashed; a new one starts");
            crashes.inc({ group });
            crashed.abort();
          },
          signal,
        }),
      );
      if (!subscription) return;
      subscriptions.set(group, subscription);
      await aborted(AbortSignal.any([signal, crashed.signal]));
      subscriptions.delete(group);
      await subscription.close();
      await rest.sleepUnwoken(FIRST_PAUSE_MS);
    }
  }

  async function joinKafka(bus: Bus): Promise<void> {
    await persist("the topics could not be created", () => bus.ensureTopics(topics, signal));
    await Promise.all(consumers.map(({ spec, consumer }) => keepSubscribed(bus, spec, consumer)));
  }
  const joining = bus && joinKafka(bus);

  return {
    live: () =>
      consumers.every(
        ({ spec, consumer }) => consumer.live() && (subscriptions.get(spec.group)?.live() ?? true),
      ),
    async close() {
      stop.abort();
      rest.close();
      await joining;
      await Promise.all(consumers.map(({ consumer }) => consumer.close()));
    },
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
