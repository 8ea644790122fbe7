import { once } from "node:events";
import { type Bus, type Topic } from "../bus";
import { type Database } from "../db";
import { type ConsumerSpec, type RunningConsumer, startConsumer } from "../inbox";
import { type Log } from "../log";
import { Counter, Gauge, type Registry } from "../metrics";
import { pause } from "../pause";

export interface JoinBusOptions {
  db: Database;
  bus: Bus;
  /** Those that this service publishes. */
  topics: Topic[];
  consumers: ConsumerSpec[];
  log: Log;
  registry: Registry;
}

export interface JoinedBus {
  /** A consumer that waits for the bus is live: a restart would not bring the bus back. */
  live(): boolean;
  close(): Promise<void>;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Makes the topics and starts the consumers, in the background and for as long as it takes: requests are served without the bus, so a process
 * that starts while it is away has to open its doors, and one whose consumer has crashed goes on serving while another is started. A wrong
 * setting is tried again as well, since nobody knows which it is: each failure is a warning.
 */
export function joinBus({ db, bus, topics, consumers, log, registry }: JoinBusOptions): JoinedBus {
  const stop = new AbortController();
  const { signal } = stop;
  const rest = pause();
  const running = new Map<string, RunningConsumer>();
  const live = (group: string): boolean | undefined => running.get(group)?.live();
  new Gauge({
    name: "consumer_joined",
    help: "1 while the group is consumed by this process, 0 before its start has succeeded and when it stands still",
    labelNames: ["group"],
    registers: [registry],
    collect() {
      for (const { group } of consumers) this.set({ group }, live(group) ? 1 : 0);
    },
  });

  const crashes = new Counter({
    name: "consumer_crashes_total",
    help: "Consumers that stopped and were replaced; what the bus client mends by itself is not among them",
    labelNames: ["group"],
    registers: [registry],
  });
  for (const { group } of consumers) crashes.inc({ group }, 0);

  async function persist<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await work();
      } catch (error) {
        if (signal.aborted) return undefined;
        log.warn({ err: error, pauseMs }, `${what}; events wait, all else goes on`);
      }
      await rest.sleepUnwoken(pauseMs);
    }
    return undefined;
  }
  const topicsAreThere = persist("the topics could not be made", () => bus.ensureTopics(topics, signal));
  const consume = async (spec: ConsumerSpec): Promise<void> => {
    const { group } = spec;
    await topicsAreThere;
    while (!signal.aborted) {
      const crashed = new AbortController();
      const onCrash = (error: Error): void => {
        log.warn(
          { err: error, group },
          "the consumer crashed, another starts; events wait, all else goes on",
        );
        crashes.inc({ group });
        crashed.abort();
      };
      const consumer = await persist(`${group} could not start to consume`, () =>
        startConsumer({ db, bus, spec, log, registry, onCrash, signal }),
      );
      if (!consumer) return;
      running.set(group, consumer);
      await aborted(AbortSignal.any([signal, crashed.signal]));
      running.delete(group);
      await consumer.close();
      await rest.sleepUnwoken(FIRST_PAUSE_MS);
    }
  };
  const consuming = consumers.map(consume);

  return {
    live: () => consumers.every(({ group }) => live(group) ?? true),
    async close() {
      stop.abort();
      rest.close();
      await topicsAreThere;
      await Promise.all(consuming);
    },
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
