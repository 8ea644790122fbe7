import { setTimeout as sleep } from "node:timers/promises";
import type { BusMessage } from "../bus/port";
import { runInContext } from "../context";
import { type Queryable, sql, tx, type Tx } from "../db";
import { Registry } from "../metrics";
import { eventually, openTestDatabase, rowsRead, testLog } from "../testing";
import { appendEvents, partitionOf } from ".";
import { channelOf } from "./doorbell";
import { relayMetrics } from "./relayMetrics";
import { readBacklog } from "./store";
import { append, event, namesOf, outboxBench, recordingBus, TOPIC } from "./testing/bench";
import { measureBacklog, pruneOutbox, startUpkeep } from "./upkeep";

const bench = outboxBench();
const { opened, startRelay } = bench;

/** Appended rows go out with the next statement, and get their ids then. */
const takeIds = (tx: Tx) => tx.query(sql`select`);
const pending = async () =>
  (await bench.test.db.one<{ count: bigint }>(sql`select count(*) from outbox_pending`)).count;

describe("appendEvents", () => {
  it("writes no event when the caller's transaction is rolled back", async () => {
    const work = tx(bench.test.db, async (tx) => {
      await appendEvents(tx, [event("a", 1)]);
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await pending()).toBe(0n);
  });

  it("refuses a payload larger than a Kafka message before any write", async () => {
    const huge = { ...event("a", 1), payload: Buffer.alloc(1024 * 1024) };
    await expect(append(bench.test.db, huge)).rejects.toThrow(
      "the payload of a thing_changed is larger than a Kafka message may be",
    );
  });
});

describe("the relay", () => {
  it("publishes a committed event with its whole envelope and its number", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus);
    const context = {
      requestId: "req_1",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    await runInContext(context, () => append(bench.test.db, event("a", 7)));
    await append(bench.test.db, { ...event("b", 1), requestId: "req_own", traceparent: "own" });
    await eventually(() => expect(bus.messages).toHaveLength(2));
    const [first, second] = ["a", "b"].map((name) => bus.messages.find(({ key }) => key === name));
    expect(first).toEqual({
      topic: "wonrail.sample.v1",
      partition: partitionOf("a", 3),
      key: "a",
      value: Buffer.from([7]),
      headers: {
        feed_number: "1",
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
    expect(second!.headers).toMatchObject({ request_id: "req_own", traceparent: "own" });
    await eventually(async () => expect(await pending()).toBe(0n));
  });

  it("is woken by a commit in its own process and in another, long before its next poll", async () => {
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

  it("is notified of each commit of another process, also of commits within a moment", async () => {
    let told = 0;
    opened.push(await bench.test.db.listen(channelOf("sample", "outbox"), () => (told += 1)));
    // Listening starts with one call.
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

  it("gives later numbers to a transaction that took its ids early and commits late", async () => {
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
    expect(gaps(bus.messages)).toEqual([]);
  });

  it("continues at once when the clock is set back", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus, { pollMs: 60_000 });
    await append(bench.test.db, event("a", 1));
    await eventually(() => expect(bus.messages).toHaveLength(1));
    await sleep(300); // until it waits
    jest.spyOn(Date, "now").mockImplementation(() => new Date().getTime() - 3_600_000);
    await append(bench.test.db, event("a", 2));
    await eventually(() => expect(namesOf(bus.messages)).toEqual(["a.1", "a.2"]));
  });

  it("keeps events while the bus is away, and publishes them in order afterwards", async () => {
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

  it("reports no backlog while the backlog is unreadable", async () => {
    const registry = new Registry();
    const metrics = relayMetrics(registry);
    const told = async () => (await registry.metrics()).match(/^outbox_(pending|oldest_age_seconds) .*/gm);
    expect(await told()).toBeNull();
    await append(bench.test.db, event("a", 1));
    await measureBacklog(bench.test.db, metrics, true);
    expect(await told()).toEqual([
      "outbox_pending 1",
      expect.stringMatching(/^outbox_oldest_age_seconds [\d.]+$/),
    ]);
    const closed = openTestDatabase(bench.test.url, "sample");
    await closed.close();
    await expect(measureBacklog(closed, metrics, true)).rejects.toThrow();
    expect(await told()).toBeNull();
  });

  it("reports the age of the oldest event in its backlog", async () => {
    const registry = new Registry();
    await append(bench.test.db, event("a", 1), event("a", 2));
    await bench.test.db.run(sql`update outbox set occurred_at = now() - interval '1 hour' where version = 1`);
    await measureBacklog(bench.test.db, relayMetrics(registry), true);
    expect(await registry.metrics()).toMatch(/^outbox_oldest_age_seconds 36\d\d/m);
  });

  it("reads its backlog without reading published events, also with stale statistics", async () => {
    const { db } = bench.test;
    const owner = openTestDatabase(bench.test.ownerUrl, "sample");
    opened.push(owner);
    await append(db, ...Array.from({ length: 2_000 }, (_, index) => event("a", index + 1)));
    await owner.run(sql`analyze outbox, outbox_pending`);
    await db.run(sql`delete from outbox_pending where id < (select max(id) from outbox)`);
    const read = (connection: Queryable) => readBacklog(connection, true);
    expect(await read(db)).toMatchObject({ pending: 1, oldest_age_seconds: expect.any(Number) });
    expect(await rowsRead(db, "outbox", read)).toBeLessThan(10);
  });

  it("numbers each partition without gaps, also after a rollback", async () => {
    const bus = recordingBus();
    startRelay(bench.test.db, bus);
    for (let version = 1; version <= 20; version += 1) {
      await append(bench.test.db, event("a", version), event("b", version), event("c", version));
      await tx(bench.test.db, async (tx) => {
        await appendEvents(tx, [event("a", version)]);
        await takeIds(tx);
        throw new Error("rolled back");
      }).catch(() => undefined);
    }
    await eventually(() => expect(bus.messages).toHaveLength(60));
    expect(gaps(bus.messages)).toEqual([]);
  });

  it("numbers events while Kafka is away", async () => {
    const bus = recordingBus();
    bus.down = true;
    startRelay(bench.test.db, bus);
    await append(bench.test.db, event("a", 1), event("a", 2));
    await eventually(async () => expect(await numbers()).toEqual([1n, 2n]));
    expect(bus.messages).toEqual([]);
  });

  it("publishes unacknowledged events again under the same numbers after a restart", async () => {
    const [first, second] = [recordingBus(), recordingBus()];
    const relay = startRelay(bench.test.db, first);
    await append(bench.test.db, event("a", 1));
    await eventually(() => expect(first.messages).toHaveLength(1));
    await eventually(async () => expect(await published()).toBe(1n));
    first.down = true;
    await append(bench.test.db, event("a", 2));
    await eventually(async () => expect(await numbers()).toEqual([1n, 2n]));
    await relay.close();
    startRelay(bench.test.db, second);
    await eventually(() => expect(namesOf(second.messages)).toEqual(["a.2"]));
    expect(second.messages[0]!.headers.feed_number).toBe("2");
  });

  it("numbers events without Kafka and counts them as published", async () => {
    const registry = new Registry();
    startRelay(bench.test.db, undefined, { registry });
    await append(bench.test.db, event("a", 1));
    await eventually(async () => expect(await numbers()).toEqual([1n]));
    await eventually(async () =>
      expect(await registry.metrics()).toContain('outbox_published_total{topic="wonrail.sample.v1"} 1'),
    );
  });
});

describe("pruning", () => {
  it("removes the oldest numbers of each partition up to the first young event", async () => {
    const relay = startRelay(bench.test.db);
    await append(bench.test.db, ...Array.from({ length: 25 }, (_, index) => event("a", index + 1)));
    await eventually(async () => expect(await numbers()).toHaveLength(25));
    await relay.close();
    await append(bench.test.db, event("a", 26));
    await bench.test.db.run(
      sql`update outbox set occurred_at = now() - interval '1 hour' where version <= 18 or version in (20, 26)`,
    );
    await pruneOutbox(bench.test.db, TOPIC.partitions, 60_000, 4);
    expect(await numbers()).toEqual([19n, 20n, 21n, 22n, 23n, 24n, 25n]);
    const left = await bench.test.db.query<{ version: bigint }>(sql`select version from outbox order by id`);
    expect(left.map(({ version }) => version)).toEqual([19n, 20n, 21n, 22n, 23n, 24n, 25n, 26n]);
  });

  it("runs on schedule", async () => {
    const relay = startRelay(bench.test.db);
    await append(bench.test.db, event("a", 1));
    await eventually(async () => expect(await numbers()).toHaveLength(1));
    await relay.close();
    await bench.test.db.run(sql`update outbox set occurred_at = now() - interval '1 hour'`);
    // Starts the first round at once instead of at a random time of the first minute.
    const random = jest.spyOn(Math, "random").mockReturnValue(0);
    const metrics = relayMetrics(new Registry());
    const options = { partitions: TOPIC.partitions, retainMs: 60_000, withKafka: false };
    opened.push(startUpkeep({ db: bench.test.db, log: testLog(), metrics, ...options }));
    random.mockRestore();
    await eventually(async () => expect(await bench.test.db.query(sql`select from outbox`)).toEqual([]));
  });
});

/** The numbers of the aggregate "a". */
async function numbers(): Promise<bigint[]> {
  const rows = await bench.test.db.query<{ number: bigint }>(sql`
    select number from feed_positions where partition = ${partitionOf("a", TOPIC.partitions)} order by number`);
  return rows.map(({ number }) => number);
}

async function published(): Promise<bigint> {
  const { published } = await bench.test.db.one<{ published: bigint }>(sql`
    select published from feed_heads where partition = ${partitionOf("a", TOPIC.partitions)}`);
  return published;
}

/** Positions at which a partition's numbers do not grow by one. */
function gaps(messages: BusMessage[]): string[] {
  const last = new Map<number, number>();
  return messages.flatMap(({ partition, headers }) => {
    const number = Number(headers.feed_number);
    const isNext = number === (last.get(partition) ?? 0) + 1;
    last.set(partition, number);
    return isNext ? [] : [`${partition}/${number}`];
  });
}
