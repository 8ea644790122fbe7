// What helm/wonrail/GUIDE.md says of a restore, with Kafka, which is not restored with the database.
import { openBus, type Bus } from "@wonrail/kit/bus";
import { sql, rawSql, tx } from "@wonrail/kit/db";
import { startConsumer } from "@wonrail/kit/inbox";
import { createLog } from "@wonrail/kit/log";
import { createRegistry } from "@wonrail/kit/metrics";
import { appendEvents, startOutboxRelay } from "@wonrail/kit/outbox";
import { createTestDatabase, eventually, openTestDatabase, type TestDatabase } from "@wonrail/kit/testing";
import { Kafka, logLevel } from "kafkajs";
import { readText } from "../ops/repository";

const brokers = process.env.WONRAIL_TEST_KAFKA_BROKERS?.split(",");
const TOPIC = `wonrail.restored-${process.pid}.v1`;
const GROUP = `restored-${process.pid}`;

let database: TestDatabase;

if (brokers === undefined) {
  // The run says why at its start.
  test.skip("a restore with Kafka", () => undefined);
} else {
  beforeAll(async () => {
    database = await createTestDatabase({ schema: "sample" });
    const owner = openTestDatabase(database.ownerUrl, "sample");
    await owner.run(sql`create table received (payload text primary key)`);
    await owner.close();
  });
  afterAll(() => database?.drop());

  test("what consumers had not had at that moment comes, and what is undone does not", async () => {
    const service = await start(brokers);
    await append(1, 2, 3);
    await eventually(async () => expect(await received()).toEqual(["1", "2", "3"]), { timeoutMs: 60_000 });
    await service.close();

    // The database goes back: to after 3 was published and before it was taken in, and to before 4.
    const publisher = await start(brokers, { consumes: false });
    await append(4);
    await eventually(async () => expect(await pending()).toBe(0n), { timeoutMs: 60_000 });
    await publisher.close();
    await database.db.run(sql`delete from outbox where version = 4`);
    await database.db.run(sql`delete from received where payload = '3'`);
    await database.db.run(
      sql`delete from inbox where event_id = (select event_id from outbox where version = 3)`,
    );

    await deleteTopic(brokers);
    await database.db.run(rawSql(statementOfTheGuide()));
    const restored = await start(brokers);
    await append(5);
    await eventually(async () => expect(await received()).toEqual(["1", "2", "3", "5"]), {
      timeoutMs: 60_000,
    });
    await restored.close();
  }, 240_000);
}

/** As the guide has it for one schema, said of the test's. */
function statementOfTheGuide(): string {
  const [, statement] = /```sql\n(insert into ledger\.outbox_pending .*)\n```/.exec(
    readText("helm/wonrail/GUIDE.md"),
  )!;
  return statement!.replaceAll("ledger.", "sample.");
}

/** A service in small: its bus, its relay and, if it is to, its consumer. */
async function start(brokers: string[], { consumes = true } = {}): Promise<{ close(): Promise<void> }> {
  const { db } = database;
  const log = createLog({ service: "restored", level: "silent" });
  const registry = createRegistry({ service: "restored", version: "", commit: "" });
  const bus: Bus = await openBus({ kind: "kafka", brokers, clientId: "restored", log });
  await bus.ensureTopics([{ name: TOPIC, partitions: 1 }]);
  const relay = startOutboxRelay({ db, bus, log, registry, pollMs: 100 });
  const spec = {
    group: GROUP,
    topics: [TOPIC],
    handlers: {
      noted: async (tx: Parameters<typeof appendEvents>[0], { version }: { version: bigint }) =>
        void (await tx.run(sql`insert into received (payload) values (${String(version)})`)),
    },
  };
  const consumer = consumes
    ? await startConsumer({ db, bus, spec, log, registry, onCrash: jest.fn() })
    : undefined;
  return {
    async close() {
      await consumer?.close();
      await relay.close();
      await bus.close();
    },
  };
}

function append(...versions: number[]): Promise<void> {
  const events = versions.map((version) => ({
    topic: TOPIC,
    type: "noted",
    aggregateId: "a",
    version,
    orgId: "org_1",
    payload: Buffer.alloc(0),
  }));
  return tx(database.db, (tx) => appendEvents(tx, events));
}

async function received(): Promise<string[]> {
  const rows = await database.db.query<{ payload: string }>(sql`select payload from received order by 1`);
  return rows.map(({ payload }) => payload);
}

async function pending(): Promise<bigint> {
  const { count } = await database.db.one<{ count: bigint }>(
    sql`select count(*) as count from outbox_pending`,
  );
  return count;
}

async function deleteTopic(brokers: string[]): Promise<void> {
  const admin = new Kafka({ clientId: "operator", brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.deleteTopics({ topics: [TOPIC] });
  await eventually(async () => expect(await admin.listTopics()).not.toContain(TOPIC), { timeoutMs: 60_000 });
  await admin.disconnect();
}
