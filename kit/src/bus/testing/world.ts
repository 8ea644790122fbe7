import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { sql, tx } from "../../db";
import { Registry } from "../../metrics";
import { appendEvents, createFeed, startOutboxRelay, type NewEvent, type OutboxRelay } from "../../outbox";
import { eventually, openTestDatabase, testLog, type Proxy, type TestDatabase } from "../../testing";
import { buildWorld, type Parts } from "../../testing/buildWorld";
import { openKafkaBus } from "../kafka";
import type { Topic } from "../port";
import { type Replica, type ReplicaPlace, startReplica } from "./replica";

export const PARTITIONS = 4;
/** Events are complete within five seconds after a fault; the rest is for a busy machine. */
export const BOUND_MS = 5_000 + 5_000;
const SLOW_MS = 60_000;

/** A producer and a consumer with real parts, and networks between them that can fail. */
export interface World {
  topic: Topic;
  producer: TestDatabase;
  consumer: TestDatabase;
  /** Between the consumers and the producer's gRPC server. */
  feedProxy: Proxy;
  /** The proxy before Kafka, for all parts. */
  kafkaProxy: Proxy | undefined;
  relay: OutboxRelay;
  /** Replaces the relay. Without Kafka it only assigns numbers. */
  restartRelay(options?: { withoutKafka?: boolean }): Promise<void>;
  /** Appends the versions of the key, one transaction each. */
  append(key: string, count: number, payload?: string): Promise<void>;
  startReplica(options?: { handleMs?: number }): Promise<Replica>;
  startProcess(options?: { handleMs?: number }): Promise<ChildProcess>;
  /** The versions that were handled of the key, in order. */
  effectsOf(key: string): Promise<number[]>;
  /** Waits until each key was handled up to its last appended version, once and in order. */
  complete(timeoutMs?: number): Promise<void>;
  publishRaw(partition: number, value: string, headers: Record<string, string>): Promise<void>;
  deleteTopic(): Promise<void>;
  close(): Promise<void>;
}

export function openWorld(brokers: string[] | undefined): Promise<World> {
  return buildWorld((parts) => buildBus(parts, brokers));
}

async function buildBus(parts: Parts, brokers: string[] | undefined): Promise<Omit<World, "close">> {
  const producer = await parts.database({ schema: "sample" });
  const consumer = await makeConsumer(parts);
  const topic = { name: `wonrail.${randomBytes(6).toString("hex")}.v1`, partitions: PARTITIONS };
  const [log, registry] = [testLog(), new Registry()];

  const kafkaProxy = brokers && (await parts.proxy(brokers[0]!));
  const bus =
    brokers &&
    (await parts.use(openKafkaBus({ clientId: "producer", brokers, replication: 1, log, registry })));
  await bus?.ensureTopics([topic]);
  const feed = createFeed({ db: producer.db, topic });
  const server = await parts.server([feed.service], { graceMs: 0 });
  await parts.use(feed);
  const feedProxy = await parts.proxy(server.address);
  // Networks that a test left broken would make closing slow.
  const mendNetworks = () => [feedProxy, kafkaProxy].forEach((proxy) => proxy?.setMode({ kind: "pass" }));

  const startRelay = (options: { withoutKafka?: boolean } = {}) =>
    startOutboxRelay({
      ...{ db: producer.db, topic, log, registry, pollMs: 100, batchSize: 50 },
      bus: options.withoutKafka ? undefined : bus,
    });
  const place = (handleMs: number): ReplicaPlace => ({
    databaseUrl: consumer.url,
    feedAddress: `${feedProxy.host}:${feedProxy.port}`,
    ...(brokers &&
      kafkaProxy && { kafka: { brokers, proxy: { host: kafkaProxy.host, port: kafkaProxy.port } } }),
    topic: topic.name,
    group: "sample",
    handleMs,
  });
  const appended = new Map<string, number>();
  const world: Omit<World, "close"> = {
    ...{ topic, producer, consumer, feedProxy, kafkaProxy, relay: startRelay() },
    async restartRelay(options) {
      await world.relay.close();
      world.relay = startRelay(options);
    },
    async append(key, count, payload = "") {
      for (let left = count; left > 0; left -= 1) {
        const version = (appended.get(key) ?? 0) + 1;
        await tx(producer.db, (tx) => appendEvents(tx, [noted(topic.name, key, version, payload)]));
        appended.set(key, version);
      }
    },
    async startReplica({ handleMs = 0 } = {}) {
      const replica = await parts.use(startReplica(place(handleMs)));
      parts.onClose(mendNetworks);
      if (brokers) await joined(replica);
      return replica;
    },
    async startProcess({ handleMs = 0 } = {}) {
      const script = join(__dirname, "replicaProcess.ts");
      const args = ["--require", require.resolve("tsx/cjs"), script, JSON.stringify(place(handleMs))];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      parts.onClose(async () => {
        if (child.exitCode === null && child.signalCode === null) {
          child.kill("SIGKILL");
          await once(child, "exit");
        }
      });
      await once(child.stdout, "data");
      return child;
    },
    async effectsOf(key) {
      const rows = await consumer.db.query<{ version: number }>(sql`
        select version::integer as version from effects where key = ${key} order by position`);
      return rows.map(({ version }) => version);
    },
    complete: (timeoutMs = SLOW_MS) =>
      eventually(
        async () => {
          for (const [key, last] of appended)
            expect([key, await world.effectsOf(key)]).toEqual([
              key,
              Array.from({ length: last }, (_, index) => index + 1),
            ]);
        },
        { timeoutMs, intervalMs: 100 },
      ),
    async publishRaw(partition, value, headers) {
      await bus!.publish([{ topic: topic.name, partition, key: "raw", value: Buffer.from(value), headers }]);
    },
    async deleteTopic() {
      const admin = new Kafka({
        clientId: "operator",
        brokers: brokers!,
        logLevel: logLevel.NOTHING,
      }).admin();
      await admin.connect();
      await admin.deleteTopics({ topics: [topic.name] });
      await admin.disconnect();
      await eventually(() => bus!.ensureTopics([topic]), { timeoutMs: 30_000 });
    },
  };
  parts.onClose(() => world.relay.close());
  parts.onClose(mendNetworks);
  return world;
}

export function noted(topic: string, aggregateId: string, version: number, payload = ""): NewEvent {
  return { topic, type: "noted", aggregateId, version, orgId: "org_1", payload: Buffer.from(payload) };
}

async function makeConsumer(parts: Parts): Promise<TestDatabase> {
  const database = await parts.database({ schema: "sample" });
  const owner = openTestDatabase(database.ownerUrl, "sample");
  await owner.run(sql`
    create table effects (key text, version bigint, position bigint generated always as identity)`);
  await owner.close();
  return database;
}

async function joined({ registry }: Replica): Promise<void> {
  await eventually(
    async () => expect(await registry.metrics()).toContain('consumer_joined{group="sample"} 1'),
    { timeoutMs: 30_000 },
  );
}
