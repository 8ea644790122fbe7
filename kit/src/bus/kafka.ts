// The only file that imports kafkajs. ADR 0024 gives the reason for each setting.
import {
  type Admin,
  AssignerProtocol,
  type Consumer,
  Kafka,
  type KafkaConfig,
  logLevel,
  type Message,
  type PartitionAssigner,
  Partitioners,
  type Producer,
  type RetryOptions,
} from "kafkajs";
import { assignPartitions } from "./assignPartitions";
import { CLOSING_MS, leaveGroup } from "./leaveGroup";
import { createBatchHandler } from "./kafka/batchHandler";
import { type Connections, createConnections } from "./kafka/connections";
import { type Dial, dial } from "./kafka/dial";
import { createKafkaLog } from "./kafka/createKafkaLog";
import { isTransientKafkaError } from "./kafka/isTransientKafkaError";
import { watchMembership } from "./kafka/membership";
import { rangesOf, readRanges } from "./kafka/readRanges";
import { checkTopics, createMissing, requireTopics } from "./kafka/topics";
import { watchTopics } from "./kafka/watchTopics";
import { type Liveness, watchLiveness } from "./liveness";
import { type BusMetrics, busMetrics } from "./metrics";
import type * as port from "./port";
import { createPublisher } from "./publisher";
import { retryUntilReady, withTimeout } from "./waiting";

export interface KafkaTuning {
  /** Tests insert a faulty network here. */
  dial: Dial;
  sessionTimeoutMs: number;
  /** An answer that takes longer counts as lost, and its connection with it. */
  requestTimeoutMs: number;
}

const DEFAULT_TUNING: KafkaTuning = { dial, sessionTimeoutMs: 10_000, requestTimeoutMs: 10_000 };
const CONNECT_TIMEOUT_MS = 3_000;
/** How long a rebalance waits for members that still handle a batch. */
const REBALANCE_TIMEOUT_MS = 30_000;
/** How long the broker holds an empty fetch; closing a consumer takes as long. */
const FETCH_WAIT_MS = 500;
/**
 * After this many sessions without a successful heartbeat the group has continued without this
 * member.
 */
const SESSIONS_IN_VAIN = 3;
/** After this many crashes without a fetch in between, kafkajs' own restarts are hopeless. */
const MAX_RESTARTS_IN_VAIN = 20;
const METADATA_MAX_AGE_MS = 60_000;
const PARTITIONS_AT_ONCE = 4;
const BACKOFF: RetryOptions = { initialRetryTime: 100, multiplier: 2, factor: 0.2, maxRetryTime: 1_000 };
const BOUNDED: RetryOptions = { ...BACKOFF, retries: 4 };
/**
 * The relay retries. kafkajs' own retries lose messages: when a send goes to several brokers, it
 * skips those that have answered, although a partition may have moved to them
 * (tulios/kafkajs#1798).
 */
export const SEND_ONCE: RetryOptions = { ...BACKOFF, retries: 0 };
/**
 * A consumer survives any outage. With few retries it crashes, and its successor waits for the old
 * session's end.
 */
const FOR_EVER: RetryOptions = { ...BACKOFF, retries: 1e6 };

export function openKafkaBus(options: port.KafkaBusOptions, tuning: Partial<KafkaTuning> = {}): port.Bus {
  const parts: KafkaParts = {
    options,
    tuning: { ...DEFAULT_TUNING, ...tuning },
    metrics: busMetrics(options.registry),
  };
  const { log, registry } = options;
  const closing = new AbortController();
  const patience = (signal = closing.signal) => ({
    log,
    signal: AbortSignal.any([closing.signal, signal]),
    isTransient: isTransientKafkaError,
  });
  const consumers = new Set<port.Subscription>();
  const admin = openAdmin(parts);
  const producer = openProducer(parts);
  const publisher = createPublisher({
    send: (messages) => producer.send(messages),
    metrics: parts.metrics,
    registry,
  });

  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all([...consumers].map((consumer) => consumer.close()));
    await withTimeout(CLOSING_MS, "publishing did not end", publisher.close()).catch(() => undefined);
    await Promise.all([producer.close(), admin.close()]);
  };
  let closed: Promise<void> | undefined;
  return {
    ensureTopics: (topics, signal) =>
      retryUntilReady(
        "create topics",
        async () => {
          const client = await admin.connected();
          await createMissing(client, topics, options.replication);
          await checkTopics(client, topics, options.replication, log);
        },
        patience(signal),
      ),
    publish: (messages) => publisher.publish(messages),
    async subscribe(request) {
      const limits = patience(request.signal);
      const read = async () => requireTopics(await admin.connected(), request.topics);
      await retryUntilReady("read topics", read, limits);
      const withEnd = { ...request, signal: limits.signal };
      const started = await startConsumer(parts, withEnd);
      const consumer: port.Subscription = {
        live: () => started.live(),
        close: () => started.close().finally(() => consumers.delete(consumer)),
      };
      consumers.add(consumer);
      return consumer;
    },
    close: () => (closed ??= close()),
  };
}

interface KafkaParts {
  options: port.KafkaBusOptions;
  tuning: KafkaTuning;
  metrics: BusMetrics;
}

// ---- reading once

/** Reads what the brokers keep of a topic from a time on, once. See kafka/readRanges.ts. */
export async function readKafkaTopic(
  options: port.KafkaBusOptions,
  { topic, since, handle }: port.ReadOnce,
): Promise<void> {
  const parts = { options, tuning: DEFAULT_TUNING, metrics: busMetrics() };
  const { kafka, giveUp, hangUp } = openClient(parts, BOUNDED);
  const [admin, groupId] = [kafka.admin(), `${options.clientId}.restore`];
  const consumer = kafka.consumer({ groupId, allowAutoTopicCreation: false });
  try {
    await admin.connect();
    const starts = await admin.fetchTopicOffsetsByTimestamp(topic, since.getTime());
    const ranges = rangesOf(starts, await admin.fetchTopicOffsets(topic));
    const onCrash = (listener: (error: Error) => void) =>
      void consumer.on(consumer.events.CRASH, ({ payload }) => listener(payload.error));
    await readRanges(consumer, { topic, ranges, handle, onCrash });
  } finally {
    giveUp();
    await Promise.all([consumer.disconnect(), admin.disconnect()]).catch(hangUp);
  }
}

// ---- connections

interface Client extends Pick<Connections, "hangUp" | "timedOut"> {
  kafka: Kafka;
  /** Ends every attempt to connect. */
  giveUp: () => void;
}

/**
 * One client per consumer: kafkajs keeps a group's positions per client, so two members would mix
 * them up.
 */
function openClient({ options, tuning }: KafkaParts, retry: RetryOptions, onDial = () => {}): Client {
  const { open, hangUp, timedOut } = createConnections(tuning.dial, options.brokers, onDial);
  let givenUp = false;
  const config: KafkaConfig = {
    clientId: options.clientId,
    // Only an empty list makes kafkajs stop trying.
    brokers: () => (givenUp ? [] : options.brokers),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: tuning.requestTimeoutMs,
    retry,
    socketFactory: open,
    logLevel: logLevel.INFO,
    logCreator: () => createKafkaLog(options.log),
  };
  if (options.ssl !== undefined) config.ssl = options.ssl;
  if (options.sasl !== undefined) config.sasl = options.sasl as NonNullable<KafkaConfig["sasl"]>;
  return {
    kafka: new Kafka(config),
    hangUp,
    timedOut,
    giveUp: () => (givenUp = true),
  };
}

// ---- topics

function openAdmin(parts: KafkaParts): { connected(): Promise<Admin>; close(): Promise<void> } {
  const { kafka, hangUp, timedOut, giveUp } = openClient(parts, BOUNDED);
  const admin = kafka.admin();
  admin.on(admin.events.REQUEST_TIMEOUT, timedOut);
  return {
    async connected() {
      await admin.connect();
      return admin;
    },
    async close() {
      giveUp();
      // Open requests have no waiting caller.
      hangUp();
      await withTimeout(CLOSING_MS, "the admin client did not close", admin.disconnect()).catch(hangUp);
    },
  };
}

// ---- publishing

/**
 * Not idempotent: after an abandoned send, kafkajs' idempotent producer gets its next, different
 * message acknowledged and not stored. Instead one request at a time is repeated until it is
 * acknowledged or abandoned.
 */
function openProducer(parts: KafkaParts) {
  const { kafka, hangUp, timedOut, giveUp } = openClient(parts, BOUNDED);
  const producer: Producer = kafka.producer({
    idempotent: false,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
    metadataMaxAge: METADATA_MAX_AGE_MS,
    retry: SEND_ONCE,
  });
  producer.on(producer.events.REQUEST_TIMEOUT, timedOut);
  return {
    async send(messages: port.BusMessage[]): Promise<void> {
      await producer.connect();
      const byTopic = new Map<string, Message[]>();
      for (const { topic, partition, key, value, headers } of messages) {
        const ofTopic = byTopic.get(topic) ?? [];
        if (ofTopic.push({ partition, key, value, headers }) === 1) byTopic.set(topic, ofTopic);
      }
      await producer.sendBatch({
        acks: -1,
        timeout: parts.tuning.requestTimeoutMs / 2,
        topicMessages: [...byTopic].map(([topic, ofTopic]) => ({ topic, messages: ofTopic })),
      });
    },
    async close() {
      giveUp();
      // Running requests have no waiting caller any more.
      hangUp();
      await withTimeout(CLOSING_MS, "the producer did not close", producer.disconnect()).catch(hangUp);
    },
  };
}

// ---- consuming

async function startConsumer(
  parts: KafkaParts,
  request: port.SubscribeOptions & { signal: AbortSignal },
): Promise<port.Subscription> {
  const { sessionTimeoutMs } = parts.tuning;
  const { group, topics, signal } = request;
  const liveness = watchLiveness(2 * sessionTimeoutMs);
  const { kafka, hangUp, timedOut, giveUp } = openClient(parts, FOR_EVER, liveness.recordProgress);
  const consumer = kafka.consumer({
    groupId: group,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: sessionTimeoutMs / 4,
    rebalanceTimeout: REBALANCE_TIMEOUT_MS,
    maxWaitTimeInMs: FETCH_WAIT_MS,
    metadataMaxAge: METADATA_MAX_AGE_MS,
    allowAutoTopicCreation: false,
    partitionAssigners: [
      (config) => {
        watchTopics(config.cluster, (cause) =>
          crash(new Error(`a topic of ${group} is there no more`, { cause })),
        );
        return dealToWhoAsked(config);
      },
    ],
    retry: { ...FOR_EVER, restartOnFailure: async () => true },
  });
  consumer.on(consumer.events.REQUEST_TIMEOUT, timedOut);
  let closed: Promise<void> | undefined;
  const start: { refusal?: Error; isDone?: true } = {};
  const crash = (error: Error): void => {
    if (closed) return;
    liveness.stop();
    if (start.isDone) request.onCrash?.(error);
    else start.refusal = error;
  };
  watchConsumer(consumer, parts, liveness, group, crash);
  const { log } = parts.options;
  const batches = createBatchHandler({ request, liveness, sessionTimeoutMs, log });
  const run = async (): Promise<void> => {
    await consumer.connect();
    await consumer.subscribe({ topics, fromBeginning: true });
    await consumer.run({
      autoCommit: true,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: PARTITIONS_AT_ONCE,
      eachBatch: (payload) => batches.handle(payload),
    });
  };
  const close = async (): Promise<void> => {
    giveUp();
    batches.close();
    liveness.stop();
    await leaveGroup(liveness, () => consumer.disconnect()).catch(hangUp);
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  // The broker may leave before the join, and then this would retry for ever.
  const leave = (): void => {
    void closeOnce();
    hangUp();
  };
  signal.addEventListener("abort", leave);
  try {
    signal.throwIfAborted();
    await run();
    // kafkajs calls a group that did not take the consumer a crash, and its start a success.
    if (start.refusal) throw start.refusal;
    start.isDone = true;
  } catch (error) {
    await closeOnce();
    throw error;
  } finally {
    signal.removeEventListener("abort", leave);
  }
  return { live: liveness.live, close: closeOnce };
}

/** Exported for its test. */
export function watchConsumer(
  consumer: Pick<Consumer, "on" | "events">,
  { options: { log }, tuning, metrics }: KafkaParts,
  liveness: Liveness,
  group: string,
  onCrash: (error: Error) => void,
): void {
  const { FETCH, HEARTBEAT, GROUP_JOIN, CRASH } = consumer.events;
  const inVainMs = SESSIONS_IN_VAIN * tuning.sessionTimeoutMs;
  let restarts = 0;
  const membership = watchMembership(inVainMs);
  const isMember = (): void => {
    membership.confirmed();
    liveness.recordProgress();
  };
  consumer.on(FETCH, () => {
    restarts = 0;
    liveness.recordProgress();
    if (membership.fetched())
      onCrash(new Error(`no heartbeat reached the coordinator of ${group} within ${inVainMs} ms`));
  });
  consumer.on(HEARTBEAT, isMember);
  consumer.on(GROUP_JOIN, ({ payload }) => {
    isMember();
    metrics.rebalances.inc({ group });
    log.info({ group, partitions: payload.memberAssignment }, "joined the consumer group");
  });
  consumer.on(CRASH, ({ payload: { error, restart } }) => {
    log.warn({ err: error, group, restart }, "the consumer crashed");
    restarts += 1;
    if (!restart || restarts > MAX_RESTARTS_IN_VAIN) onCrash(error);
  });
}

/**
 * kafkajs' own assigner deals the leader's topics to all members: a member drops partitions of
 * unwanted topics, which then have no reader.
 */
const dealToWhoAsked: PartitionAssigner = ({ cluster }) => ({
  name: "DealToWhoAsked",
  version: 0,
  protocol: ({ topics }) => ({
    name: "DealToWhoAsked",
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 0, topics, userData: Buffer.alloc(0) }),
  }),
  async assign({ members }) {
    const asked = members.map(({ memberId, memberMetadata }) => ({
      id: memberId,
      topics: AssignerProtocol.MemberMetadata.decode(memberMetadata)?.topics ?? [],
    }));
    const topics = [...new Set(asked.flatMap((member) => member.topics))].sort();
    await cluster.addMultipleTargetTopics(topics);
    const partitions = topics.flatMap((topic) =>
      cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => ({ topic, partitionId })),
    );
    return [...assignPartitions(asked, partitions)].map(([memberId, share]) => {
      const assignment: Record<string, number[]> = {};
      for (const { topic, partitionId } of share) (assignment[topic] ??= []).push(partitionId);
      const encoded = { version: 0, assignment, userData: Buffer.alloc(0) };
      return { memberId, memberAssignment: AssignerProtocol.MemberAssignment.encode(encoded) };
    });
  },
});
