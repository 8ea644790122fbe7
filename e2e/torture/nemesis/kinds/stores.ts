import { rawSql, sql, tx } from "@wonrail/kit/db";
import { pick } from "@wonrail/kit/testing/random";
import { SERVICES } from "@wonrail/local/services";
import { type Admin, Kafka, logLevel } from "kafkajs";
import { asAdmin } from "../../../support/asAdmin";
import { type World } from "../../world/openWorld";
import { type Fault } from "../fault";

/** Faults of PostgreSQL and Kafka. */
export const STORE_FAULTS: readonly Fault[] = [
  {
    name: "postgres-killed",
    holdMs: [0, 2_000],
    touches: "postgres",
    async begin({ postgres }) {
      await postgres.kill();
      return { detail: "the server", end: () => postgres.start() };
    },
  },
  {
    name: "sessions-terminated",
    holdMs: [0, 0],
    touches: "postgres",
    async begin({ stack }, random) {
      const { schema } = pick(random, SERVICES);
      const ended = await asAdmin(stack, schema, (db) => db.query(TERMINATE));
      return { detail: `${ended.length} sessions of ${schema}`, end: async () => undefined };
    },
  },
  {
    name: "statements-stalled",
    holdMs: [1_000, 4_000],
    touches: "postgres",
    async begin({ stack }, random) {
      const { schema, table } = pick(random, LOCKED);
      const lock = lockTable(stack, schema, table);
      return { detail: `${table} of ${schema} is locked`, end: lock.release };
    },
  },
  {
    name: "disk-full",
    holdMs: [2_000, 6_000],
    touches: "postgres",
    isPossible: ({ postgres }) => postgres.disk !== undefined,
    async begin({ postgres }) {
      postgres.disk!.fill();
      return {
        detail: "PostgreSQL's disk",
        async end() {
          postgres.disk!.free();
          // Without room for its log the server has crashed.
          await postgres.start();
        },
      };
    },
  },
  {
    name: "broker-killed",
    holdMs: [1_000, 6_000],
    touches: "kafka",
    isPossible: ({ kafka }) => kafka !== undefined,
    async begin({ kafka }, random) {
      const id = 1 + Math.floor(random() * kafka!.brokers.length);
      kafka!.signal(id, "SIGKILL");
      return { detail: `broker ${id}`, end: () => kafka!.start(id) };
    },
  },
  {
    name: "topic-deleted",
    holdMs: [0, 0],
    touches: "kafka",
    isPossible: ({ kafka }) => kafka !== undefined,
    async begin(world, random) {
      const topic = await withTopic(world, random, (admin, name) => admin.deleteTopics({ topics: [name] }));
      return { detail: topic, end: async () => undefined };
    },
  },
  {
    name: "messages-expired",
    holdMs: [0, 0],
    touches: "kafka",
    isPossible: ({ kafka }) => kafka !== undefined,
    async begin(world, random) {
      const topic = await withTopic(world, random, deleteRecords);
      return { detail: topic, end: async () => undefined };
    },
  },
];

const TERMINATE = sql`
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`;
/** Tables of the money path. */
const LOCKED = [
  { schema: "ledger", table: "accounts" },
  { schema: "payment", table: "transfers" },
  { schema: "chain_relayer", table: "operations" },
  { schema: "wallet", table: "wallets" },
] as const;

/** Holds a lock on the table, which stops readers and writers, until the release. */
function lockTable(stack: World["stack"], schema: string, table: string) {
  const over = new AbortController();
  const held = new Promise<void>((resolve) => over.signal.addEventListener("abort", () => resolve()));
  const holding = asAdmin(stack, schema, (db) =>
    tx(db, async (locking) => {
      await locking.run(rawSql(`lock table ${table} in access exclusive mode`));
      await held;
    }),
  );
  holding.catch(() => undefined);
  return {
    release: () => {
      over.abort();
      return holding;
    },
  };
}

/** Deletes all messages of the topic, as retention does. */
async function deleteRecords(admin: Admin, topic: string): Promise<void> {
  const offsets = await admin.fetchTopicOffsets(topic);
  const partitions = offsets.map(({ partition, high }) => ({ partition, offset: high }));
  await admin.deleteTopicRecords({ topic, partitions });
}

/**
 * Damages one of the services' topics. The services write a deleted topic again from their outboxes,
 * and consumers read lost messages from the feeds.
 */
async function withTopic(
  { stack }: World,
  random: () => number,
  damage: (admin: Admin, topic: string) => Promise<unknown>,
): Promise<string> {
  if (stack.bus.kind !== "kafka") throw new Error("the world has no Kafka");
  const kafka = new Kafka({ brokers: stack.bus.brokers.split(","), logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith("wonrail."));
    const topic = pick(random, topics.sort());
    await damage(admin, topic);
    return topic;
  } finally {
    await admin.disconnect();
  }
}
