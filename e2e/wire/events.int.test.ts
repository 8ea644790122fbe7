import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type DescMessage,
  type JsonValue,
  create,
  createFileRegistry,
  fromBinary,
  toJson,
} from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { consumers as relayerConsumers } from "@wonrail/chain-relayer/consumers";
import { openKafkaBus } from "@wonrail/kit/bus";
import { currentContext, runInContext } from "@wonrail/kit/context";
import { tx, type Tx } from "@wonrail/kit/db";
import {
  type ConsumerSpec,
  type FeedClient,
  listDeadLetters,
  type ReceivedEvent,
  startConsumer,
} from "@wonrail/kit/inbox";
import { Registry } from "@wonrail/kit/metrics";
import { appendEvents, createFeed, type NewEvent, startOutboxRelay } from "@wonrail/kit/outbox";
import { createTestDatabase, eventually, testLog, type TestDatabase } from "@wonrail/kit/testing";
import { consumers as paymentConsumers } from "@wonrail/payment/consumers";
import { ROOT } from "../ops/repository";
import { LATER_FIELDS, readVectors } from "./vectors";

// During a roll-out, and while a topic keeps old events, publishers and consumers differ in their
// release. Here events go from an outbox over a real bus to an inbox, written and read by an
// earlier, the present and a later release.

const EVENT = /^wonrail\.(\w+)\.events\.v1\.(\w+)$/;
const WITHIN_MS = 60_000;

const vectors = Object.entries(readVectors()).flatMap(([name, examples]) => {
  const [, service, message] = EVENT.exec(name) ?? [];
  if (service === undefined) return [];
  const type = message!.replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
  return [{ name, topic: `wonrail.${service}.v1`, type, examples: examples.map(bytesOf) }];
});

/**
 * The messages of the baseline, which is the previous release; and the same with one more field.
 */
const earlier = messagesAtBaseline();
const later = messagesAtBaseline({ withOneMoreField: true });
const released = vectors.filter(({ name }) => earlier.has(name));
const TOPICS = [...new Set(vectors.map(({ topic }) => topic))];

/** Consumer groups of the two services, with their event types. */
const HANDLED = appConsumers(new Map()).flatMap(({ group, handlers }) =>
  Object.keys(handlers).map((type) => [group, type] as const),
);

const kafka = process.env.WONRAIL_TEST_KAFKA_BROKERS;
describe.each(["feed", ...(kafka === undefined ? [] : ["kafka"])])("over %s", (kind) => {
  const prefix = `wire-${kind}-${Date.now()}`;
  const registry = new Registry();
  const read = new Map<string, unknown>();
  const parts: { close(): Promise<void> }[] = [];
  let database: TestDatabase;

  beforeAll(async () => {
    const log = testLog();
    const bus =
      kind === "kafka"
        ? openKafkaBus({ brokers: kafka!.split(","), replication: 1, clientId: prefix, log })
        : undefined;
    database = await createTestDatabase({ schema: "sample" });
    const events = eventsOfThreeReleases(prefix);
    const feeds: Record<string, FeedClient> = {};
    // Each service has one feed in its own database.
    for (const name of TOPICS.map((topic) => `${prefix}.${topic}`)) {
      const topic = { name, partitions: 1 };
      await bus?.ensureTopics([topic]);
      const producer = await createTestDatabase({ schema: "sample" });
      const { db } = producer;
      await tx(db, (tx) =>
        appendEvents(
          tx,
          events.filter((event) => event.topic === name),
        ),
      );
      const relay = startOutboxRelay({ db, topic, bus, log, registry: new Registry(), pollMs: 50 });
      const feed = createFeed({ db, topic });
      const listEvents = feed.service.handlers.listEvents as unknown as ListEvents;
      const { signal } = new AbortController();
      feeds[name] = { listEvents: (request) => listEvents(request, { signal }) };
      parts.push({ close: () => producer.drop() }, feed, relay);
    }
    if (bus) parts.push(bus);
    const specs = [readingAs("earlier", earlier), readingAs("later", later), ...appConsumers(read)].map(
      (spec) => onTopics(spec, prefix),
    );
    for (const spec of specs) {
      const { db } = database;
      const consumer = startConsumer({ db, spec, feeds, withKafka: bus !== undefined, log, registry });
      const { group, topics } = spec;
      parts.push(consumer);
      await bus?.subscribe({ group, topics, handleBatch: (messages) => consumer.handleBatch(messages) });
    }
    await eventually(() => void expect(pending()).toEqual([]), { timeoutMs: WITHIN_MS, intervalMs: 100 });
  }, 180_000);
  afterAll(async () => {
    for (const part of parts.toReversed()) await part.close();
    await database.drop();
  });

  /**
   * A consumer of the release with these messages, which records the events that it understands.
   */
  function readingAs(release: string, messages: Map<string, DescMessage>): ConsumerSpec {
    const handlers = released.map(({ type, name }) => [
      type,
      async (_tx: unknown, { payload, requestId }: { payload: Buffer; requestId: string }) => {
        const message = messages.get(name)!;
        read.set(`${release} ${requestId}`, toJson(message, fromBinary(message, payload)));
      },
    ]);
    return { group: release, topics: TOPICS, handlers: Object.fromEntries(handlers) as Handlers };
  }

  function pending(): string[] {
    const wanted = released.flatMap(({ type }) =>
      ["earlier", "later"].flatMap((by) => ["today", "newer"].map((from) => `${by} ${from}:${type}`)),
    );
    const calls = HANDLED.flatMap(([group, type]) =>
      ["earliest", "today", "newer"].map((from) => `${group} ${from}:${type}`),
    );
    return [...wanted, ...calls].filter((key) => !read.has(key));
  }

  it.each(released)(
    "$name: an earlier release's consumer reads today's, and a later one's",
    ({ name, type, examples }) => {
      const known = jsonOf(earlier.get(name)!, examples.at(-1)!);
      expect(read.get(`earlier today:${type}`)).toEqual(known);
      expect(read.get(`earlier newer:${type}`)).toEqual(known);
    },
  );

  it.each(released)(
    "$name: a consumer that knows a field more finds it absent",
    ({ name, type, examples }) => {
      expect(read.get(`later today:${type}`)).toEqual(jsonOf(earlier.get(name)!, examples.at(-1)!));
      expect(read.get(`later newer:${type}`)).toMatchObject({ later: "150" });
    },
  );

  it.each(HANDLED)("%s handles a %s of any release alike", (group, type) => {
    const [call, ...more] = ["earliest", "today", "newer"].map((from) =>
      read.get(`${group} ${from}:${type}`),
    );
    expect(call).toEqual([expect.any(String), expect.anything()]);
    expect(more).toEqual([call, call]);
  });

  it("skips a type of a later release without a dead letter", async () => {
    const skipped = async () => {
      const { values } = await registry.getSingleMetric("consumer_messages_total")!.get();
      return values
        .filter(({ labels }) => labels.group === `${prefix}.earlier` && labels.outcome === "skipped")
        .reduce((sum, { value }) => sum + value, 0);
    };
    const unknown = vectors.length + 3 * (vectors.length - released.length);
    // The topic's last event may be unknown, and was not awaited.
    await eventually(async () => expect(await skipped()).toBe(unknown), { timeoutMs: WITHIN_MS });
    expect(await listDeadLetters(database.db)).toEqual([]);
  });
});

type Handlers = ConsumerSpec["handlers"];
type ListEvents = (
  request: Parameters<FeedClient["listEvents"]>[0],
  call: { signal: AbortSignal },
) => ReturnType<FeedClient["listEvents"]>;

/**
 * Each event type as the earliest, the present and a later release write it, and an unknown type.
 */
function eventsOfThreeReleases(prefix: string): NewEvent[] {
  return vectors.flatMap(({ name, topic, type, examples }) => {
    const event = (from: string, payload: Uint8Array): NewEvent => ({
      topic: `${prefix}.${topic}`,
      type: from === "unheard" ? `${type}_by_moonlight` : type,
      aggregateId: name,
      version: 1n,
      orgId: "",
      payload,
      requestId: `${from}:${type}`,
      traceparent: "",
    });
    const today = examples.at(-1)!;
    return [
      event("unheard", today),
      event("earliest", examples[0]!),
      event("today", today),
      event("newer", Buffer.concat([today, LATER_FIELDS])),
    ];
  });
}

function onTopics({ group, topics, handlers }: ConsumerSpec, prefix: string): ConsumerSpec {
  return { group: `${prefix}.${group}`, topics: topics.map((topic) => `${prefix}.${topic}`), handlers };
}

/** The consumers of both services. They note in `read` which command each event calls. */
function appConsumers(read: Map<string, unknown>): ConsumerSpec[] {
  const specs = [...relayerConsumers(recorder(read)), ...paymentConsumers(recorder(read))];
  return specs.map((spec) => ({ ...spec, handlers: oneByOne(spec) }));
}

/** Hands over each event alone, because a command for many events does not say which they were. */
function oneByOne({ group, handlers }: ConsumerSpec): Handlers {
  const alone = Object.entries(handlers).map(([type, handler]) => [
    type,
    (tx: Tx, event: ReceivedEvent) =>
      runInContext({ requestId: `${group} ${event.requestId}`, traceparent: event.traceparent }, () =>
        typeof handler === "function" ? handler(tx, event) : handler.all(tx, [event]),
      ),
  ]);
  return Object.fromEntries(alone) as Handlers;
}

/** Replaces a service's commands: records command and input under the context's id. */
function recorder<App>(read: Map<string, unknown>): App {
  const commands = {
    get: (known: Record<string, unknown>, command: string) =>
      known[command] ??
      (async (_tx: unknown, ...inputs: unknown[]) =>
        void read.set(currentContext()!.requestId, [command, inputs.map(withoutEnvelope)])),
  };
  return new Proxy({ metrics: { projections: { wrote() {} } } }, commands) as App;
}

/** Removes the envelope's own id and time. */
function withoutEnvelope(input: unknown): unknown {
  if (!Array.isArray(input)) return input;
  return input.map((item: object) => ({ ...item, origin: undefined, occurredAt: undefined }));
}

function messagesAtBaseline({ withOneMoreField = false } = {}): Map<string, DescMessage> {
  const bytes = readFileSync(join(ROOT, "proto/baseline/wonrail.binpb"));
  const set = fromBinary(FileDescriptorSetSchema, bytes);
  const field = { name: "later", jsonName: "later", number: 1_000, type: Type.INT64, label: Label.OPTIONAL };
  for (const { package: name, messageType } of set.file) {
    if (!withOneMoreField || !name.endsWith(".events.v1")) continue;
    for (const message of messageType) message.field.push(create(FieldDescriptorProtoSchema, field));
  }
  const found = [...createFileRegistry(set)].filter(({ kind }) => kind === "message") as DescMessage[];
  return new Map(found.map((message) => [message.typeName, message]));
}

function jsonOf(message: DescMessage, bytes: Uint8Array): JsonValue {
  return toJson(message, fromBinary(message, bytes));
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, "base64");
}
