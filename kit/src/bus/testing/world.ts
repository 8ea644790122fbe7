import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import { sql, tx } from "../../db";
import { startGrpcServer } from "../../grpc/server";
import { Registry } from "../../metrics";
import { appendEvents, createFeed, startOutboxRelay, type NewEvent, type OutboxRelay } from "../../outbox";
import {
  createTestDatabase,
  eventually,
  openTestDatabase,
  startProxy,
  testLog,
  type Proxy,
  type TestDatabase,
} from "../../testing";
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

export async function openWorld(brokers: string[] | undefined): Promise<World> {
  const closing: (() => Promise<void>)[] = [];
  const [producer, consumer] = [await createTestDatabase({ schema: "sample" }), await makeConsumer()];
  closing.push(
    () => producer.drop(),
    () => consumer.drop(),
  );
  const topic = { name: `wonrail.${randomBytes(6).toString("hex")}.v1`, partitions: PARTITIONS };
  const [log, registry] = [testLog(), new Registry()];

  const kafkaProxy = brokers && (await proxyOf(brokers[0]!));
  if (kafkaProxy) closing.push(() => kafkaProxy.close());
  const bus = brokers && openKafkaBus({ clientId: "producer", brokers, replication: 1, log, registry });
  if (bus) {
    closing.push(() => bus.close());
    await bus.ensureTopics([topic]);
  }
  const feed = createFeed({ db: producer.db, topic });
  const server = await startGrpcServer({
    ...{ host: "127.0.0.1", port: 0, services: [feed.service], log, registry: new Registry() },
  });
  closing.push(async () => {
    await feed.close();
    await server.drain(0);
  });
  const feedProxy = await proxyOf(`127.0.0.1:${server.port}`);
  closing.push(() => feedProxy.close());

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
  const world: World = {
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
      const replica = startReplica(place(handleMs));
      closing.push(() => replica.close());
      if (brokers) await joined(replica);
      return replica;
    },
    async startProcess({ handleMs = 0 } = {}) {
      const script = join(__dirname, "replicaProcess.ts");
      const args = ["--require", require.resolve("tsx/cjs"), script, JSON.stringify(place(handleMs))];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      closing.push(async () => {
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
    async close() {
      // Networks that a test left broken would make closing slow.
      for (const proxy of [feedProxy, kafkaProxy]) proxy?.setMode({ kind: "pass" });
      await world.relay.close();
      for (const end of closing.toReversed()) await end();
    },
  };
  return world;
}

export function noted(topic: string, aggregateId: string, version: number, payload = ""): NewEvent {
  return { topic, type: "noted", aggregateId, version, orgId: "org_1", payload: Buffer.from(payload) };
}

async function makeConsumer(): Promise<TestDatabase> {
  const database = await createTestDatabase({ schema: "sample" });
  const owner = openTestDatabase(database.ownerUrl, "sample");
  await owner.run(sql`
    create table effects (key text, version bigint, position bigint generated always as identity)`);
  await owner.close();
  return database;
}

async function proxyOf(address: string): Promise<Proxy> {
  const [host, port] = address.split(":");
  return startProxy({ target: { host: host!, port: Number(port) } });
}

async function joined({ registry }: Replica): Promise<void> {
  await eventually(
    async () => expect(await registry.metrics()).toContain('consumer_joined{group="sample"} 1'),
    { timeoutMs: 30_000 },
  );
}
