import { installPostgresBus, openBus, type Bus } from "../bus";
import { sql, tx, type Database } from "../db";
import { Registry } from "../metrics";
import { appendEvents, startOutboxRelay } from "../outbox";
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

const TOPIC = "wonrail.sample.v1";
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
  await installPostgresBus(test.adminUrl, ["wonrail_sample"]);
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
  topics: [TOPIC],
  handlers: {
    sent: async (tx, { aggregateId, version }) => {
      await tx.run(sql`insert into received (account, version) values (${aggregateId}, ${version})`);
    },
  },
};

/** A service's process in small: its pool, its bus, its relay and its consumer, all over a network that the test can cut. */
async function startReplica(): Promise<Replica> {
  const url = new URL(test.url);
  url.port = String(proxy.port);
  const [log, registry] = [testLog(), new Registry()];
  const db = openTestDatabase(url.toString(), "sample", { connectTimeoutMs: 3_000 });
  const bus: Bus = await openBus({ kind: "postgres", url: url.toString(), clientId: "test", log });
  await bus.ensureTopics([{ name: TOPIC, partitions: 2 }]);
  const relay = startOutboxRelay({ db, bus, log, registry, pollMs: 100, batchSize: 20 });
  const consumer = await startConsumer({ db, bus, spec, log, registry, onCrash: jest.fn() });
  return {
    db,
    async close() {
      await consumer.close();
      await relay.close();
      await bus.close();
      await db.close();
    },
  };
}

/** Sends the account's next event; asks again as long as the outcome is not known, as a caller with a request id would. */
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
            topic: TOPIC,
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

it("has each event's effect once and in order while connections are cut again and again", async () => {
  replicas = await Promise.all([startReplica(), startReplica()]);
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => `acc_${index}`);
  await test.db.run(sql`insert into accounts (id) select unnest(${accounts}::text[])`);
  let [sent, sentAtLastCut] = [0, 0];
  const cutting = setInterval(() => {
    // Where nothing gets through between two cuts there is nothing to be seen.
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
