import { setTimeout as sleep } from "node:timers/promises";
import { runInContext } from "../context";
import { sql, tx, type Tx } from "../db";
import { Registry } from "../metrics";
import { eventually, openTestDatabase, rowsRead, testLog } from "../testing";
import { appendEvents, republishSince, startOutboxRelay } from ".";
import { outboxChannel } from "./doorbell";
import { relayMetrics } from "./relayMetrics";
import { readBacklog } from "./store";
import { append, event, namesOf, outboxBench, recordingBus } from "./testing/bench";
import { measureBacklog, pruneOutbox, startUpkeep } from "./upkeep";

const bench = outboxBench();
const { opened, startRelay } = bench;

/** What is appended leaves with the next question, and has its ids then. */
const takeIds = (tx: Tx) => tx.query(sql`select`);
const pending = async () =>
  (await bench.test.db.one<{ count: bigint }>(sql`select count(*) from outbox_pending`)).count;

describe("appendEvents", () => {
  it("writes nothing when the caller's transaction is rolled back", async () => {
    const work = tx(bench.test.db, async (tx) => {
      await appendEvents(tx, [event("a", 1)]);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await pending()).toBe(0n);
  });

  it("refuses a payload that no bus would take, before anything is written", async () => {
    const huge = { ...event("a", 1), payload: Buffer.alloc(1024 * 1024) };
    await expect(append(bench.test.db, huge)).rejects.toThrow(
      "the payload of a thing_changed is larger than any bus takes",
    );
  });
});

describe("the relay", () => {
  it("publishes what was committed with the whole envelope, and forgets it", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus);
    const context = {
      requestId: "req_1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    await runInContext(context, () => append(bench.test.db, event("a", 7)));
    await append(bench.test.db, { ...event("b", 1), requestId: "req_own", traceparent: "own" });
    await eventually(() => expect(bus.messages).toHaveLength(2));
    expect(bus.messages[0]).toEqual({
      topic: "wonrail.sample.v1",
      key: "a",
      value: Buffer.from([7]),
      headers: {
        event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
        event_type: "thing_changed",
        aggregate_id: "a",
        version: "7",
        occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        org_id: "org_1",
        traceparent: context.traceparent,
        request_id: "req_1",
      },
    });
    expect(bus.messages[1]!.headers).toMatchObject({ request_id: "req_own", traceparent: "own" });
    await eventually(async () => expect(await pending()).toBe(0n));
  });

  it("holds no message that the bus has taken, and each that it has not", async () => {
    const bus = recordingBus();
    const given = jest.spyOn(bus, "publish");
    const sizes = () => given.mock.calls.map(([batch]) => batch.length);
    bus.down = true;
    startRelay(bench.test.db, bus);
    await append(bench.test.db, event("a", 1), event("a", 2));
    await eventually(() => expect(sizes()[0]).toBe(2));
    bus.down = false;
    await eventually(() => expect(bus.messages).toHaveLength(2));
    await eventually(() => expect(sizes().at(-1)).toBe(0));
    expect(sizes()[0]).toBe(2);
  });

  it("is woken by a commit in its own process and in another, long before it would poll", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus, { pollMs: 60_000 });
    const elsewhere = openTestDatabase(bench.test.url, "sample");
    opened.push(elsewhere);
    await append(bench.test.db, event("warm-up", 1));
    await eventually(() => expect(bus.messages).toHaveLength(1));
    for (const db of [bench.test.db, elsewhere, bench.test.db, elsewhere]) {
      const before = bus.messages.length;
      await append(db, event("a", before));
      await eventually(() => expect(bus.messages).toHaveLength(before + 1), { timeoutMs: 10_000 });
    }
  });

  it("is told by another process of each commit, however close they follow each other", async () => {
    let told = 0;
    opened.push(await bench.test.db.listen(outboxChannel("sample"), () => (told += 1)));
    // Listening begins with a look.
    expect(told).toBe(1);
    const elsewhere = openTestDatabase(bench.test.url, "sample");
    opened.push(elsewhere);
    // Connected already, they commit within a moment.
    await Promise.all([1, 2, 3].map(() => elsewhere.ping()));
    await Promise.all(["a", "b"].map((aggregateId) => append(elsewhere, event(aggregateId, 1))));
    await eventually(() => expect(told).toBe(3));
  });

  it("keeps the order within each aggregate over many batches and writers", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus, { batchSize: 7 });
    const writer = async (aggregateId: string) => {
      for (let version = 1; version <= 30; version += 3) {
        await append(
          bench.test.db,
          event(aggregateId, version),
          event(aggregateId, version + 1),
          event(aggregateId, version + 2),
        );
      }
    };
    await Promise.all(["a", "b", "c", "d"].map(writer));
    await eventually(() => expect(bus.messages).toHaveLength(120));
    for (const aggregateId of ["a", "b", "c", "d"]) {
      const versions = bus.messages
        .filter(({ key }) => key === aggregateId)
        .map(({ headers }) => Number(headers.version));
      expect(versions).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    }
  });

  it("loses nothing of a transaction that took its ids early and commits late", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus);
    await tx(bench.test.db, async (tx) => {
      await appendEvents(tx, [event("slow", 1), event("slow", 2)]);
      await takeIds(tx);
      for (let version = 1; version <= 50; version += 1) await append(bench.test.db, event("fast", version));
      await eventually(() => expect(bus.messages).toHaveLength(50));
      expect(bus.messages.every(({ key }) => key === "fast")).toBe(true);
    });
    await eventually(() => expect(namesOf(bus.messages).slice(50)).toEqual(["slow.1", "slow.2"]));
    await eventually(async () => expect(await pending()).toBe(0n));
  });

  it("lets no event pass an earlier one of its aggregate that was committed late, whatever the poll", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus, { pollMs: 60_000 });
    await append(bench.test.db, event("warm-up", 1));
    // The relay may start behind it from now on, as soon as what comes is younger.
    await eventually(async () => expect(await pending()).toBe(0n));
    await tx(bench.test.db, async (tx) => {
      await appendEvents(tx, [event("slow", 1)]);
      await takeIds(tx);
      for (let version = 1; version <= 5; version += 1) {
        await append(bench.test.db, event("fast", version));
        await eventually(() => expect(bus.messages).toHaveLength(1 + version));
      }
    });
    await append(bench.test.db, event("slow", 2));
    await eventually(() => expect(namesOf(bus.messages).slice(6)).toEqual(["slow.1", "slow.2"]));
  });

  it("goes on at once when the clock is set back", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus, { pollMs: 60_000 });
    await append(bench.test.db, event("a", 1));
    await eventually(() => expect(bus.messages).toHaveLength(1));
    await sleep(300); // until it waits
    jest.spyOn(Date, "now").mockImplementation(() => new Date().getTime() - 3_600_000);
    await append(bench.test.db, event("a", 2));
    await eventually(() => expect(namesOf(bus.messages)).toEqual(["a.1", "a.2"]));
  });

  it("keeps everything while the bus is away, and publishes it in order when it is back", async () => {
    const bus = recordingBus();
    const registry = new Registry();
    startRelay(bench.test.db, bus, { registry });
    bus.down = true;
    await append(bench.test.db, event("a", 1));
    await append(bench.test.db, event("a", 2));
    await eventually(async () => {
      expect(await registry.metrics()).toMatch(/outbox_publish_failures_total [1-9]/);
    });
    bus.down = false;
    await append(bench.test.db, event("a", 3));
    await eventually(() => expect(namesOf(bus.messages)).toEqual(["a.1", "a.2", "a.3"]));
    await eventually(async () => {
      const text = await registry.metrics();
      expect(text).toContain('outbox_published_total{topic="wonrail.sample.v1"} 3');
      expect(text).toContain("outbox_publish_delay_seconds_count 3");
      expect(text).toContain("outbox_oldest_age_seconds");
    });
  });

  it("says nothing of its backlog while it cannot be read", async () => {
    const registry = new Registry();
    const metrics = relayMetrics(registry);
    const told = async () => (await registry.metrics()).match(/^outbox_(pending|oldest_age_seconds) .*/gm);
    expect(await told()).toBeNull();
    await append(bench.test.db, event("a", 1));
    await measureBacklog(bench.test.db, metrics);
    expect(await told()).toEqual([
      "outbox_pending 1",
      expect.stringMatching(/^outbox_oldest_age_seconds [\d.]+$/),
    ]);
    const closed = openTestDatabase(bench.test.url, "sample");
    await closed.close();
    await expect(measureBacklog(closed, metrics)).rejects.toThrow();
    expect(await told()).toBeNull();
  });

  it("says of its backlog how long the oldest has waited", async () => {
    const registry = new Registry();
    await append(bench.test.db, event("a", 1), event("a", 2));
    await bench.test.db.run(sql`update outbox set occurred_at = now() - interval '1 hour' where version = 1`);
    await measureBacklog(bench.test.db, relayMetrics(registry));
    expect(await registry.metrics()).toMatch(/^outbox_oldest_age_seconds 36\d\d/m);
  });

  it("finds out about its backlog without reading what is published, whatever the statistics say", async () => {
    const { db } = bench.test;
    const owner = openTestDatabase(bench.test.ownerUrl, "sample");
    opened.push(owner);
    await append(db, ...Array.from({ length: 2_000 }, (_, index) => event("a", index + 1)));
    await owner.run(sql`analyze outbox, outbox_pending`);
    await db.run(sql`delete from outbox_pending where id < (select max(id) from outbox)`);
    expect(await readBacklog(db)).toMatchObject({ pending: 1, oldest_age_seconds: expect.any(Number) });
    expect(await rowsRead(db, "outbox", readBacklog)).toBeLessThan(10);
  });

  it("builds the events that a row stands for, and marks the row when all are out", async () => {
    const bus = recordingBus();
    const relay = startOutboxRelay({
      db: bench.test.db,
      bus,
      log: testLog(),
      registry: new Registry(),
      pollMs: 50,
      batchSize: 3,
      expander: {
        begin: () => undefined,
        expand: async (_connection, row) =>
          [1n, 2n].map((version) => ({ ...row, version: row.version * 10n + version })),
      },
    });
    opened.push(relay);
    bus.down = true;
    await append(bench.test.db, event("a", 1), event("a", 2), event("a", 3));
    await eventually(async () => expect(await pending()).toBe(3n));
    bus.down = false;
    await eventually(() =>
      expect(namesOf(bus.messages)).toEqual(["a.11", "a.12", "a.21", "a.22", "a.31", "a.32"]),
    );
    await eventually(async () => expect(await pending()).toBe(0n));
  });
});

describe("what was published", () => {
  it("is kept for a while and can be published again", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus);
    await append(bench.test.db, event("a", 1), event("a", 2));
    await eventually(async () => expect(await pending()).toBe(0n));
    expect(await republishSince(bench.test.db, new Date(Date.now() + 60_000))).toBe(0);
    expect(await republishSince(bench.test.db, new Date(Date.now() - 60_000), 1)).toBe(2);
    await eventually(() => expect(namesOf(bus.messages)).toEqual(["a.1", "a.2", "a.1", "a.2"]));
    expect(bus.messages[2]!.headers.event_id).toBe(bus.messages[0]!.headers.event_id);
  });

  it("is published again also by a relay that has long gone on behind it", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus);
    for (const version of [1, 2, 3, 4]) {
      await append(bench.test.db, event("a", version));
      await eventually(async () => expect(await pending()).toBe(0n));
    }
    expect(await republishSince(bench.test.db, new Date(0))).toBe(4);
    const all = ["a.1", "a.2", "a.3", "a.4"];
    await eventually(() => expect(namesOf(bus.messages)).toEqual([...all, ...all]));
  });

  it("does not stop what is new when it was removed while it was asked for again", async () => {
    await append(bench.test.db, ...[1, 2, 3, 4].map((version) => event("a", version)));
    await bench.test.db.run(sql`update outbox set occurred_at = now() - interval '1 hour'`);
    await bench.test.db.run(sql`delete from outbox_pending`);
    await tx(bench.test.db, async (tx) => {
      expect(await republishSince(tx, new Date(0))).toBe(4);
      await pruneOutbox(bench.test.db, 60_000);
    });
    const bus = recordingBus();
    startRelay(bench.test.db, bus, { batchSize: 2 });
    await append(bench.test.db, event("b", 1));
    await eventually(() => expect(namesOf(bus.messages)).toEqual(["b.1"]));
    await eventually(async () => expect(await pending()).toBe(0n));
  });

  it("is removed when it is old, and nothing that is pending ever", async () => {
    await append(bench.test.db, ...Array.from({ length: 25 }, (_, index) => event("a", index + 1)));
    await bench.test.db.run(
      sql`update outbox set occurred_at = now() - interval '1 hour' where version <= 20`,
    );
    await bench.test.db.run(
      sql`delete from outbox_pending where id in (select id from outbox where version not in (3, 25))`,
    );
    await pruneOutbox(bench.test.db, 60_000, 4);
    const left = await bench.test.db.query<{ version: bigint }>(sql`select version from outbox order by id`);
    expect(left.map(({ version }) => version)).toEqual([3n, 21n, 22n, 23n, 24n, 25n]);
  });

  it("is removed without anybody asking", async () => {
    await append(bench.test.db, event("a", 1));
    await bench.test.db.run(sql`update outbox set occurred_at = now() - interval '1 hour'`);
    await bench.test.db.run(sql`delete from outbox_pending`);
    const metrics = relayMetrics(new Registry());
    // The first of a process's rounds comes at once, and not at any time of its first minute.
    const random = jest.spyOn(Math, "random").mockReturnValue(0);
    opened.push(startUpkeep({ db: bench.test.db, log: testLog(), metrics, retainMs: 60_000 }));
    random.mockRestore();
    await eventually(async () => expect(await bench.test.db.query(sql`select from outbox`)).toEqual([]));
  });
});
