// The bus for a machine that has nothing but Node and Postgres: a log of messages per partition, and groups that share the partitions.
import { type Database, isTransient, type Listener, openDatabase } from "../db";
import type { Log } from "../log";
import { CLOSING_MS } from "./farewell";
import { busMetrics } from "./metrics";
import { type Bus, type BusMessage, type PostgresBusOptions, TopicMissingError } from "./port";
import { type PostgresConsumer, startConsumer } from "./postgres/consumer";
import { rowsOf, type TopicForm } from "./postgres/packing";
import { type Repeated, repeat } from "./postgres/repeat";
import * as store from "./postgres/store";
import { createPublisher } from "./publisher";
import { untilThere, within } from "./waiting";

export { installPostgresBus } from "./postgres/schema";

export interface PostgresTuning {
  leaseMs: number;
  statementTimeoutMs: number;
  retentionMs: number;
  retentionEveryMs: number;
}

const DEFAULT_TUNING: PostgresTuning = {
  leaseMs: 10_000,
  statementTimeoutMs: 10_000,
  retentionMs: 7 * 24 * 3_600_000,
  retentionEveryMs: 600_000,
};
const POOL_MAX = 4;
const RETENTION_ROUNDS = 1_000;
const NOT_NULL_VIOLATION = "23502";

export function openPostgresBus(options: PostgresBusOptions, tuning: Partial<PostgresTuning> = {}): Bus {
  const { clientId, log, registry } = options;
  const { leaseMs, statementTimeoutMs, retentionMs, retentionEveryMs } = { ...DEFAULT_TUNING, ...tuning };
  const metrics = busMetrics(registry);
  const db = openDatabase({
    url: options.url,
    schema: "bus",
    applicationName: `${clientId} bus`,
    max: POOL_MAX,
    statementTimeoutMs,
    log,
    ...(registry && { registry }),
  });
  const closing = new AbortController();
  const patience = (signal = closing.signal) => ({
    log,
    signal: AbortSignal.any([closing.signal, signal]),
    mayPass,
  });
  const consumers = new Set<PostgresConsumer>();
  const publisher = createPublisher({ send: createAppend(db), metrics, registry });
  let listener: Promise<Listener> | undefined;
  const retention = startRetention(db, { retentionMs, retentionEveryMs, log });

  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all([...consumers].map((consumer) => consumer.close()));
    const end = Promise.all([publisher.close(), retention.stop()]).then(() => db.close());
    await within(CLOSING_MS, "the bus did not close", end).catch((error: unknown) =>
      log.warn({ err: error }, "the bus is left without an answer"),
    );
  };
  let closed: Promise<void> | undefined;
  return {
    kind: "postgres",
    ensureTopics: (topics, signal) =>
      untilThere("create topics", () => store.insertTopics(db, topics), patience(signal)),
    publish: (messages) => publisher.publish(messages),
    async subscribe(request) {
      await untilThere("read topics", () => requireTopics(db, request.topics), patience(request.signal));
      listener ??= db.listen(store.CHANNEL, (payload) => hear(payload, consumers));
      await listener;
      const onClosed = (): unknown => consumers.delete(consumer);
      const consumer = await startConsumer({ db, clientId, log, metrics, leaseMs, onClosed }, request);
      consumers.add(consumer);
      return consumer;
    },
    lag: (group, topics) => store.readLag(db, group, topics),
    ping: () => db.ping(),
    close: () => (closed ??= close()),
  };
}

/** An empty payload means that announcements may have been missed. */
function hear(payload: string, consumers: Iterable<PostgresConsumer>): void {
  const [subject, object = ""] = payload.split(" ");
  for (const consumer of consumers) {
    if (subject === "partitions") consumer.wake(object.split(",").map(Number));
    else if (subject !== "group" || object === consumer.group) consumer.look();
  }
}

/** What a topic was made as stays so, but for one that is packed from now on. It is looked up once, and again after whatever went wrong. */
function createAppend(db: Database): (messages: BusMessage[]) => Promise<void> {
  let forms = new Map<string, TopicForm>();
  return async (messages) => {
    const names = topicsOf(messages);
    try {
      if (!names.every((name) => forms.has(name)))
        forms = new Map([...forms, ...(await store.findTopicForms(db, names))]);
      await store.appendRows(db, rowsOf(messages, forms));
    } catch (error) {
      forms = new Map();
      const isNowhere = (error as { code?: string }).code === NOT_NULL_VIOLATION;
      const missing = isNowhere ? await store.listMissingTopics(db, names) : [];
      throw missing.length > 0 ? new TopicMissingError(missing) : error;
    }
  };
}

function topicsOf(messages: BusMessage[]): string[] {
  return [...new Set(messages.map(({ topic }) => topic))];
}

async function requireTopics(db: Database, topics: string[]): Promise<void> {
  const missing = await store.listMissingTopics(db, topics);
  if (missing.length > 0) throw new TopicMissingError(missing);
}

function mayPass(error: unknown): boolean {
  return error instanceof TopicMissingError || isTransient(error);
}

function startRetention(
  db: Database,
  { retentionMs, retentionEveryMs, log }: { retentionMs: number; retentionEveryMs: number; log: Log },
): Repeated {
  const deleteAll = async (): Promise<void> => {
    for (let round = 0; round < RETENTION_ROUNDS; round += 1) {
      if ((await store.deleteExpired(db, retentionMs)) === 0) return;
    }
  };
  return repeat(retentionEveryMs, deleteAll, (error) =>
    log.warn({ err: error }, "old messages were not deleted"),
  );
}
