import { FeedServiceService } from "@wonrail/proto/common/v1/feed";
import { sql, tx, type Database } from "../db";
import { createClient } from "../grpc/client";
import { startGrpcServer } from "../grpc/server";
import { Registry } from "../metrics";
import { appendEvents, createFeed, startOutboxRelay } from "../outbox";
import {
  createTestDatabase,
  eventually,
  openTestDatabase,
  startProxy,
  testLog,
  type Proxy,
  type TestDatabase,
} from "../testing";
import { startConsumer, type ConsumerSpec } from ".";

const TOPIC = { name: "wonrail.sample.v1", partitions: 2 };
const ACCOUNTS = 5;
const EVENTS_EACH = 40;

let test: TestDatabase;
let proxy: Proxy;
let replicas: Replica[] = [];

interface Replica {
  db: Database;
  close(): Promise<void>;
}

beforeAll(async () => {
  test = await createTestDatabase({ schema: "sample" });
  const owner = openTestDatabase(test.ownerUrl, "sample");
  await owner.run(sql`create table accounts (id text primary key, sent integer not null default 0)`);
  await owner.run(
    sql`create table received (account text, version bigint, position bigint generated always as identity)`,
  );
  await owner.close();
  const { hostname, port } = new URL(test.url);
  proxy = await startProxy({ target: { host: hostname, port: Number(port) } });
});
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await proxy.close();
  await test.drop();
});

const spec: ConsumerSpec = {
  group: "sample",
  topics: [TOPIC.name],
  handlers: {
    sent: async (tx, { aggregateId, version }) => {
      await tx.run(sql`insert into received (account, version) values (${aggregateId}, ${version})`);
    },
  },
};

/** A small service with pool, relay, feed and consumer, over a network that the test cuts. */
async function startReplica(): Promise<Replica> {
  const url = new URL(test.url);
  url.port = String(proxy.port);
  const [log, registry] = [testLog(), new Registry()];
  const db = openTestDatabase(url.toString(), "sample", { connectTimeoutMs: 3_000 });
  const relay = startOutboxRelay({ db, topic: TOPIC, log, registry, pollMs: 100, batchSize: 20 });
  const feed = createFeed({ db, topic: TOPIC });
  const server = await startGrpcServer({
    ...{ host: "127.0.0.1", port: 0, services: [feed.service], log, registry },
  });
  const client = createClient(FeedServiceService, {
    ...{ name: "sample", address: `127.0.0.1:${server.port}`, log, registry, defaultTimeoutMs: 5_000 },
  });
  const feeds = { [TOPIC.name]: client };
  const consumer = startConsumer({ db, spec, feeds, withKafka: false, log, registry });
  return {
    db,
    async close() {
      await consumer.close();
      client.close();
      await feed.close();
      await server.drain(0);
      await relay.close();
      await db.close();
    },
  };
}

/** Sends the account's next event. Retries while the outcome is unknown, as a caller with a request id does. */
async function send(account: string, version: number): Promise<void> {
  await eventually(
    () =>
      tx(replicas[version % replicas.length]!.db, async (tx) => {
        const { sent } = await tx.one<{ sent: number }>(
          sql`select sent from accounts where id = ${account} for update`,
        );
        if (sent >= version) return;
        await tx.run(sql`update accounts set sent = ${version} where id = ${account}`);
        await appendEvents(tx, [
          {
            topic: TOPIC.name,
            type: "sent",
            aggregateId: account,
            version,
            orgId: "org_1",
            payload: Buffer.alloc(0),
          },
        ]);
      }),
    { timeoutMs: 60_000 },
  );
}

it("handles each event once and in order while database connections are cut again and again", async () => {
  replicas = await Promise.all([startReplica(), startReplica()]);
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => `acc_${index}`);
  await test.db.run(sql`insert into accounts (id) select unnest(${accounts}::text[])`);
  let [sent, sentAtLastCut] = [0, 0];
  const cutting = setInterval(() => {
    // A cut before any progress proves nothing.
    if (sent === sentAtLastCut) return;
    sentAtLastCut = sent;
    proxy.setMode({ kind: "reset" });
    proxy.setMode({ kind: "pass" });
  }, 150);
  try {
    await Promise.all(
      accounts.map(async (account) => {
        for (let version = 1; version <= EVENTS_EACH; version += 1) {
          await send(account, version);
          sent += 1;
        }
      }),
    );
  } finally {
    clearInterval(cutting);
  }
  const versionsOf = sql`select account, array_agg(version order by position) as versions from received group by 1 order by 1`;
  await eventually(
    async () => {
      expect(await test.db.query(versionsOf)).toEqual(
        accounts.map((account) => ({
          account,
          versions: Array.from({ length: EVENTS_EACH }, (_, index) => BigInt(index + 1)),
        })),
      );
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  );
}, 180_000);
