import { openDatabase, sql } from "../db";
import { eventually, openTestDatabase, startProxy, testLog } from "../testing";
import { tryLockRelay } from "./store";
import { append, event, namesOf, outboxBench, recordingBus } from "./testing/bench";

// One of several replicas publishes. These tests end it, its connection or its database.

const bench = outboxBench();
const { opened, startRelay } = bench;

test("runs in one replica only, and another takes over when that one stops or loses its connection", async () => {
  const [first, second] = [recordingBus(), recordingBus()];
  const elsewhere = openTestDatabase(bench.test.url, "sample");
  opened.push(elsewhere);
  const active = startRelay(bench.test.db, first);
  await append(bench.test.db, event("a", 1));
  await eventually(() => expect(first.messages).toHaveLength(1));
  startRelay(elsewhere, second);
  await append(elsewhere, event("a", 2));
  await eventually(() => expect(first.messages).toHaveLength(2));
  expect(second.messages).toEqual([]);

  await active.close();
  await append(bench.test.db, event("a", 3));
  await eventually(() => expect(namesOf(second.messages)).toEqual(["a.3"]));

  startRelay(bench.test.db, first);
  const admin = openTestDatabase(bench.test.adminUrl, "sample");
  await admin.run(sql`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
  await admin.close();
  await append(bench.test.db, event("a", 4));
  await eventually(() => expect(namesOf([...first.messages, ...second.messages])).toContain("a.4"));
});

test("continues with the next database when its own fell silent", async () => {
  const target = new URL(bench.test.url);
  const proxy = await startProxy({ target: { host: target.hostname, port: Number(target.port) } });
  target.port = String(proxy.port);
  const short = { statementTimeoutMs: 500, answerGraceMs: 100 };
  const db = openDatabase({
    ...{ url: target.toString(), schema: "sample", applicationName: "vanished", log: testLog() },
    ...short,
  });
  opened.push(proxy, db);
  const bus = recordingBus();
  startRelay(db, bus);
  await append(bench.test.db, event("a", 1));
  await eventually(() => expect(namesOf(bus.messages)).toEqual(["a.1"]));

  proxy.setMode({ kind: "halfOpen" });
  // Its server notices the lost connection after a while and releases the lock.
  const admin = openTestDatabase(bench.test.adminUrl, "sample");
  opened.push(admin);
  await admin.run(
    sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'vanished'`,
  );
  await append(bench.test.db, event("a", 2));
  await eventually(() => expect(namesOf(bus.messages)).toContain("a.2"));
});

test("runs for each schema of a database independently", async () => {
  await bench.test.db.dedicated(async (first) => {
    expect(await tryLockRelay(first, "sample")).toBe(true);
    await bench.test.db.dedicated(async (second) => {
      expect(await tryLockRelay(second, "sample")).toBe(false);
      expect(await tryLockRelay(second, "another")).toBe(true);
    });
  });
});

test("listens on one connection, also after interruptions, and on none once it is closed", async () => {
  const bus = recordingBus();
  const relay = startRelay(bench.test.db, bus);
  const admin = openTestDatabase(bench.test.adminUrl, "sample");
  opened.push(admin);
  const listening = async () =>
    admin.query(sql`
      select from pg_stat_activity where datname = current_database() and query like 'listen %'`);
  for (const version of [1, 2, 3]) {
    await append(bench.test.db, event("a", version));
    await eventually(() => expect(bus.messages).toHaveLength(version));
    await eventually(async () => expect(await listening()).toHaveLength(1));
    await admin.run(sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
  }
  await relay.close();
  await eventually(async () => expect(await listening()).toEqual([]));
});
