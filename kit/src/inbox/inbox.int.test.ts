import { currentContext } from "../context";
import { sql, type Tx } from "../db";
import { DomainError } from "../contract/errors";
import { newId } from "../contract/ids";
import { Registry } from "../metrics";
import { createTestDatabase, eventually, openTestDatabase, testLog, type TestDatabase } from "../testing";
import {
  listDeadLetters,
  replayDeadLetters,
  showDeadLetter,
  startConsumer,
  type BulkHandler,
  type FeedClient,
  type ReceivedEvent,
} from ".";
import { consumerMetrics } from "./consumerMetrics";
import type { EventHandler } from "./events";
import type { FeedMessage } from "./planBatch";
import { measureLag, pruneInbox } from "./startConsumer";
import { messageOf, TOPIC } from "./testing/messageOf";

let test: TestDatabase;
let registry: Registry;
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  test = await createTestDatabase({ schema: "sample" });
  registry = new Registry();
  number = 0;
  const owner = openTestDatabase(test.ownerUrl, "sample");
  await owner.run(
    sql`create table effects (position bigint generated always as identity, what text not null)`,
  );
  await owner.close();
});
afterEach(async () => {
  for (const part of opened.splice(0).reverse()) await part.close();
  await test.drop();
});

/** An empty feed of the producer: Kafka delivers all events. */
const emptyFeed: FeedClient = { listEvents: async () => ({ events: [], heads: [] }) };

let number = 0;
function message(type: string, text: string, headers: Record<string, string> = {}): FeedMessage {
  number += 1;
  return messageOf(type, text, headers, number);
}

const note = async (tx: Tx, { payload }: ReceivedEvent) => {
  await tx.run(sql`insert into effects (what) values (${payload.toString()})`);
};
const joined = (events: ReceivedEvent[]) => ({
  ...events[0]!,
  payload: Buffer.from(events.map(({ payload }) => payload.toString()).join("+")),
});
const effects = async () =>
  (await test.db.query<{ what: string }>(sql`select what from effects order by position`)).map(
    ({ what }) => what,
  );
const outcome = async (name: string) =>
  Number(new RegExp(`outcome="${name}"} (\\d+)`).exec(await registry.metrics())?.[1] ?? 0);

function start(handlers: Record<string, EventHandler | BulkHandler>) {
  const spec = { group: "wallet", topics: [TOPIC], handlers };
  const feeds = { [TOPIC]: emptyFeed };
  const consumer = startConsumer({ db: test.db, spec, feeds, withKafka: true, log: testLog(), registry });
  opened.push(consumer);
  const deliver = (...messages: FeedMessage[]) =>
    consumer.handleBatch(
      messages.map(({ number, ...message }) => ({
        ...message,
        offset: "0",
        headers: { ...message.headers, feed_number: number.toString() },
      })),
    );
  return { ...consumer, deliver };
}

describe("a consumer", () => {
  it("leaves out an event from before its start that only Kafka has, and takes the next under its number", async () => {
    const { deliver } = start({ noted: note });
    const before = new Date(Date.now() - 3_600_000).toISOString();
    await deliver(message("noted", "lost", { occurred_at: before }));
    expect(await effects()).toEqual([]);
    number = 0;
    await deliver(message("noted", "new"));
    expect(await effects()).toEqual(["new"]);
  });

  it("handles each event once and in order, however often it is delivered", async () => {
    const bus = start({ noted: note });
    const [a, b, c] = [message("noted", "a"), message("noted", "b"), message("noted", "c")];
    await bus.deliver(a, b, b);
    await bus.deliver(a, b, c);
    expect(await effects()).toEqual(["a", "b", "c"]);
    expect(await outcome("processed")).toBe(3);
    expect(await outcome("duplicate")).toBe(3);
  });

  it("passes consecutive events to a bulk handler, each once", async () => {
    const noted = { all: async (tx: Tx, events: ReceivedEvent[]) => note(tx, joined(events)) };
    const bus = start({ noted, single: note });
    const [a, b] = [message("noted", "a"), message("noted", "b")];
    const [single, c] = [message("single", "s"), message("noted", "c")];
    await bus.deliver(a, b, b, single, c);
    await bus.deliver(b, c, message("noted", "d"));
    expect(await effects()).toEqual(["a+b", "s", "c", "d"]);
    expect(await outcome("duplicate")).toBe(3);
  });

  it("dead-letters only the event that a bulk handler cannot handle", async () => {
    const all = async (tx: Tx, events: ReceivedEvent[]) => {
      await note(tx, joined(events));
      if (events.some(({ payload }) => payload.toString() === "poison")) throw new DomainError("WAL_002");
    };
    const bus = start({ noted: { all } });
    await bus.deliver(...["a", "poison", "b"].map((text) => message("noted", text)));
    expect(await effects()).toEqual(["a", "b"]);
    const [letter] = await listDeadLetters(test.db);
    expect(await showDeadLetter(test.db, letter!.id)).toMatchObject({ payload: Buffer.from("poison") });
  });

  it("handles an event once when two replicas receive it at the same time", async () => {
    const slowNote: EventHandler = async (tx, event) => {
      await note(tx, event);
      await tx.query(sql`select pg_sleep(0.05)`);
    };
    const [first, second] = [start({ noted: slowNote }), start({ noted: slowNote })];
    const events = Array.from({ length: 5 }, (_, index) => message("noted", String(index)));
    await Promise.all([first.deliver(...events), second.deliver(...events)]);
    expect(await effects()).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("skips a type without a handler, also when its name is a property of Object", async () => {
    const bus = start({ noted: note });
    await bus.deliver(message("other", "x"), message("constructor", "x"), message("noted", "a"));
    expect(await effects()).toEqual(["a"]);
    expect(await outcome("skipped")).toBe(2);
    expect(await listDeadLetters(test.db)).toEqual([]);
  });

  it("runs a handler in the context of the request that caused the event", async () => {
    const seen: unknown[] = [];
    const bus = start({ noted: async () => void seen.push(currentContext()) });
    await bus.deliver(message("noted", "a"));
    expect(seen).toEqual([
      {
        requestId: "req_1",
        orgId: "org_1",
        traceparent: expect.stringMatching(
          /^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/,
        ),
      },
    ]);
  });

  it("dead-letters a poison event without its effects and handles the others in order", async () => {
    const bus = start({
      noted: note,
      poison: async (tx, event) => {
        await note(tx, event);
        throw new TypeError("cannot read properties of undefined");
      },
      refused: async () => {
        throw new DomainError("WAL_002");
      },
    });
    const first = message("noted", "a");
    const poison = message("poison", "p");
    await bus.deliver(first, poison, message("noted", "b"), message("refused", "r"), message("noted", "c"));
    await bus.deliver(poison);
    expect(await effects()).toEqual(["a", "b", "c"]);
    expect(await outcome("dead")).toBe(2);
    expect(await outcome("duplicate")).toBe(1);
    const letters = await listDeadLetters(test.db, { group: "wallet" });
    expect(letters).toMatchObject([
      { type: "refused", error: expect.stringContaining("The wallet does not exist") },
      {
        type: "poison",
        state: "dead",
        failures: 1,
        number: poison.number,
        error: expect.stringContaining("TypeError"),
      },
    ]);
    expect(await showDeadLetter(test.db, letters[1]!.id)).toMatchObject({
      headers: poison.headers,
      payload: Buffer.from("p"),
      key: "key_1",
    });
    expect(await registry.metrics()).toContain(
      'dead_letters_total{group="wallet",topic="wonrail.auth.v1"} 2',
    );
  });

  it("dead-letters a malformed event with any bytes", async () => {
    const bus = start({ noted: note });
    const hostile = [
      message("noted", "x", { event_id: "1" }),
      message("noted", "x", { version: "NaN" }),
      { ...message("noted", "x"), headers: {} },
      { ...message("noted", "x"), headers: { event_type: "noted", event_id: "a\0b\ud800" }, key: "\0" },
      { ...message("noted", "x", { occurred_at: "?" }), value: Buffer.alloc(5 * 1024 * 1024, 255) },
    ];
    await bus.deliver(...hostile, message("noted", "a"));
    await bus.deliver(...hostile);
    expect(await effects()).toEqual(["a"]);
    expect(await listDeadLetters(test.db)).toHaveLength(5);
  });

  it("dead-letters an event whose text cannot be stored, with the database's error", async () => {
    const keep =
      (text: string): EventHandler =>
      async (tx) =>
        void (await tx.run(sql`insert into effects (what) values (${text})`));
    const bus = start({ noted: note, nul: keep("a\0b") });
    await bus.deliver(message("noted", "a"), message("nul", "n"), message("noted", "b"));
    expect(await effects()).toEqual(["a", "b"]);
    expect(await outcome("retried")).toBe(0);
    expect(await listDeadLetters(test.db)).toMatchObject([
      { type: "nul", error: expect.stringContaining("invalid byte sequence") },
    ]);
  });

  it("rejects while a dependency is away without dead letters, and resumes where it stopped", async () => {
    let away = true;
    const bus = start({
      noted: note,
      called: async (tx, event) => {
        await note(tx, event);
        if (away) throw new DomainError("SYS_002");
      },
    });
    const events = [message("noted", "a"), message("called", "b"), message("noted", "c")];
    await expect(bus.deliver(...events)).rejects.toMatchObject({ code: "SYS_002" });
    expect(await effects()).toEqual(["a"]);
    expect(await outcome("retried")).toBe(1);
    away = false;
    await bus.deliver(...events);
    expect(await effects()).toEqual(["a", "b", "c"]);
    expect(await listDeadLetters(test.db)).toEqual([]);
  });

  it("reports no lag while the feed is away, nor for removed partitions", async () => {
    const metrics = consumerMetrics(registry, "wallet");
    const other = consumerMetrics(registry, "payment");
    const lag = (partition: number) => ({ topic: TOPIC, partition, messages: 3, oldestAgeMs: 1500 });
    const reported = async () => (await registry.metrics()).match(/^consumer_lag_seconds.*/gm);
    const line = (group: string, partition: number) =>
      `consumer_lag_seconds{group="${group}",topic="${TOPIC}",partition="${partition}"} 1.5`;
    other.lag([lag(0)]);
    metrics.lag([lag(1)]);
    expect(await reported()).toEqual([line("payment", 0), line("wallet", 1)]);
    await measureLag([{ lag: async () => [lag(0)] }], metrics);
    expect(await reported()).toEqual([line("payment", 0), line("wallet", 0)]);
    const away = { lag: async () => Promise.reject(new Error("the producer is away")) };
    await expect(measureLag([away], metrics)).rejects.toThrow("the producer is away");
    expect(await reported()).toEqual([line("payment", 0)]);
    expect(await registry.metrics()).not.toContain('consumer_lag_messages{group="wallet"');
  });
});

describe("a dead letter", () => {
  it("is replayed once per request, and returns when it fails again", async () => {
    let isFixed = false;
    let held = Promise.resolve();
    const bus = start({
      noted: async (tx, event) => {
        await held;
        await note(tx, event);
        if (!isFixed) throw new Error("the bug");
      },
    });
    await bus.deliver(message("noted", "a"), message("noted", "b"));
    const [second, first] = await listDeadLetters(test.db);

    // Blocked until it was requested twice.
    let release = (): void => undefined;
    held = new Promise((resolve) => (release = resolve));
    expect(await replayDeadLetters(test.db, { id: first!.id })).toBe(1);
    expect(await replayDeadLetters(test.db, { id: first!.id })).toBe(0);
    release();
    await eventually(async () => {
      expect(await showDeadLetter(test.db, first!.id)).toMatchObject({ state: "dead", failures: 2 });
    });
    expect(await effects()).toEqual([]);

    isFixed = true;
    expect(await replayDeadLetters(test.db, { group: "wallet" })).toBe(2);
    await eventually(async () => expect(await effects()).toEqual(["a", "b"]));
    expect(await showDeadLetter(test.db, second!.id)).toMatchObject({ state: "replayed" });
    expect(await listDeadLetters(test.db)).toEqual([]);
    expect(await listDeadLetters(test.db, { state: "replayed" })).toHaveLength(2);
    expect(await replayDeadLetters(test.db, { group: "wallet" })).toBe(0);
  });

  it("has its effect once when Kafka brings the event after the replay", async () => {
    const bus = start({ noted: note });
    const wellFormed = message("noted", "a");
    await bus.deliver({ ...wellFormed, headers: { ...wellFormed.headers, version: "NaN" } });
    await test.db.run(sql`update dead_letters set headers = ${JSON.stringify(wellFormed.headers)}::json`);
    expect(await replayDeadLetters(test.db, { group: "wallet" })).toBe(1);
    await eventually(async () => expect(await effects()).toEqual(["a"]));
    await bus.deliver(wellFormed);
    expect(await effects()).toEqual(["a"]);
    expect(await outcome("duplicate")).toBe(1);
  });
});

describe("the inbox", () => {
  const ids = Array.from({ length: 10 }, () => newId("evt").slice(4)).sort();
  const insert = (group: string) =>
    test.db.run(sql`insert into inbox (consumer_group, event_id) select ${group}, unnest(${ids}::uuid[])`);
  const grow = (old: string[]) =>
    test.db.run(
      sql`update inbox set received_at = now() - interval '1 hour' where event_id = any(${old}::uuid[])`,
    );

  it("prunes old rows of its group only", async () => {
    await insert("wallet");
    await insert("payment");
    await grow(ids.slice(0, 7));
    await pruneInbox(test.db, "wallet", 60_000, 3);
    const counts = sql`select consumer_group, count(*)::int as count from inbox group by 1 order by 1`;
    expect(await test.db.query(counts)).toEqual([
      { consumer_group: "payment", count: 10 },
      { consumer_group: "wallet", count: 3 },
    ]);
  });

  it("prunes behind an event that arrived long after its id was created", async () => {
    await insert("wallet");
    await grow([...ids.slice(1, 4), ...ids.slice(5, 8)]);
    await pruneInbox(test.db, "wallet", 60_000, 3);
    const left = sql`select replace(event_id::text, '-', '') as id from inbox order by event_id`;
    expect(await test.db.query(left)).toEqual([0, 4, 8, 9].map((index) => ({ id: ids[index] })));
  });

  it("prunes on schedule", async () => {
    await insert("wallet");
    await test.db.run(sql`update inbox set received_at = now() - interval '15 days'`);
    start({});
    await eventually(async () => expect(await test.db.query(sql`select from inbox`)).toEqual([]));
  });
});
