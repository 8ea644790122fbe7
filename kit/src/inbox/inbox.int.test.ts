import type { Bus, ReceivedMessage, SubscribeOptions } from "../bus/port";
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
  type EventHandler,
  type ReceivedEvent,
} from ".";
import { consumerMetrics } from "./consumerMetrics";
import { measureLag, pruneInbox } from "./startConsumer";
import { messageOf } from "./testing/messageOf";

let test: TestDatabase;
let registry: Registry;
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  test = await createTestDatabase({ schema: "sample" });
  registry = new Registry();
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

/** Stands for a bus that delivers when the test says so. */
function handBus() {
  let options: SubscribeOptions | undefined;
  const bus = {
    kind: "postgres",
    async subscribe(given: SubscribeOptions) {
      options = given;
      return { close: async () => undefined, live: () => true };
    },
    lag: async () => [{ topic: "wonrail.auth.v1", partition: 0, messages: 3, oldestAgeMs: 1500 }],
    deliver: (...messages: ReceivedMessage[]) => options!.handleBatch(messages),
  };
  return bus as typeof bus & Bus;
}

let offset = 0;
function message(type: string, text: string, headers: Record<string, string> = {}): ReceivedMessage {
  offset += 1;
  return messageOf(type, text, headers, String(offset));
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

async function start(bus: Bus, handlers: Record<string, EventHandler | BulkHandler>) {
  const spec = { group: "wallet", topics: ["wonrail.auth.v1"], handlers };
  const onCrash = jest.fn();
  const consumer = await startConsumer({ db: test.db, bus, spec, log: testLog(), registry, onCrash });
  opened.push(consumer);
  return consumer;
}

describe("a consumer", () => {
  it("has each event's effect once, in order, however often it comes", async () => {
    const bus = handBus();
    await start(bus, { noted: note });
    const [a, b, c] = [message("noted", "a"), message("noted", "b"), message("noted", "c")];
    await bus.deliver(a, b, b);
    await bus.deliver(a, b, c);
    expect(await effects()).toEqual(["a", "b", "c"]);
    expect(await outcome("processed")).toBe(3);
    expect(await outcome("duplicate")).toBe(3);
  });

  it("gives a bulk handler what follows each other at once, in the order of all events, each once", async () => {
    const bus = handBus();
    const noted = { all: async (tx: Tx, events: ReceivedEvent[]) => note(tx, joined(events)) };
    await start(bus, { noted, single: note });
    const [a, b, c] = [message("noted", "a"), message("noted", "b"), message("noted", "c")];
    await bus.deliver(a, b, b, message("single", "s"), c);
    await bus.deliver(b, c, message("noted", "d"));
    expect(await effects()).toEqual(["a+b", "s", "c", "d"]);
    expect(await outcome("duplicate")).toBe(3);
  });

  it("puts only the message aside that a bulk handler cannot work on", async () => {
    const bus = handBus();
    const all = async (tx: Tx, events: ReceivedEvent[]) => {
      await note(tx, joined(events));
      if (events.some(({ payload }) => payload.toString() === "poison")) throw new DomainError("WAL_002");
    };
    await start(bus, { noted: { all } });
    await bus.deliver(...["a", "poison", "b"].map((text) => message("noted", text)));
    expect(await effects()).toEqual(["a", "b"]);
    const [letter] = await listDeadLetters(test.db);
    expect(await showDeadLetter(test.db, letter!.id)).toMatchObject({ payload: Buffer.from("poison") });
  });

  it("has one effect when two replicas get the same event at the same time", async () => {
    const [first, second] = [handBus(), handBus()];
    const slowNote: EventHandler = async (tx, event) => {
      await note(tx, event);
      await tx.query(sql`select pg_sleep(0.05)`);
    };
    await start(first, { noted: slowNote });
    await start(second, { noted: slowNote });
    const events = Array.from({ length: 5 }, (_, index) => message("noted", String(index)));
    await Promise.all([first.deliver(...events), second.deliver(...events)]);
    expect(await effects()).toEqual(["0", "1", "2", "3", "4"]);
  });

  it("skips what it has no handler for, also when the name is one of Object's own", async () => {
    const bus = handBus();
    await start(bus, { noted: note });
    await bus.deliver(message("other", "x"), message("constructor", "x"), message("noted", "a"));
    expect(await effects()).toEqual(["a"]);
    expect(await outcome("skipped")).toBe(2);
    expect(await listDeadLetters(test.db)).toEqual([]);
  });

  it("runs a handler in the context of the request that caused the event", async () => {
    const bus = handBus();
    const seen: unknown[] = [];
    await start(bus, { noted: async () => void seen.push(currentContext()) });
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

  it("puts a poison message aside, without its effects, and goes on with the others in order", async () => {
    const bus = handBus();
    await start(bus, {
      noted: note,
      poison: async (tx, event) => {
        await note(tx, event);
        throw new TypeError("cannot read properties of undefined");
      },
      refused: async () => {
        throw new DomainError("WAL_002");
      },
    });
    const poison = message("poison", "p");
    await bus.deliver(
      message("noted", "a"),
      poison,
      message("noted", "b"),
      message("refused", "r"),
      message("noted", "c"),
    );
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
        offset: poison.offset,
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

  it("puts what is no event of ours aside, whatever bytes are in it", async () => {
    const bus = handBus();
    await start(bus, { noted: note });
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

  it("puts an event aside whose text cannot be stored, with what the database said", async () => {
    const bus = handBus();
    const keep =
      (text: string): EventHandler =>
      async (tx) =>
        void (await tx.run(sql`insert into effects (what) values (${text})`));
    await start(bus, { noted: note, nul: keep("a\0b") });
    await bus.deliver(message("noted", "a"), message("nul", "n"), message("noted", "b"));
    expect(await effects()).toEqual(["a", "b"]);
    expect(await outcome("retried")).toBe(0);
    expect(await listDeadLetters(test.db)).toMatchObject([
      { type: "nul", error: expect.stringContaining("invalid byte sequence") },
    ]);
  });

  it("tries again for as long as the trouble is somebody else's, and buries nothing for it", async () => {
    const bus = handBus();
    let away = 3;
    await start(bus, {
      noted: async (tx, event) => {
        await note(tx, event);
        away -= 1;
        if (away >= 0) throw new DomainError("SYS_002");
      },
    });
    await bus.deliver(message("noted", "a"), message("noted", "b"));
    expect(await effects()).toEqual(["a", "b"]);
    expect(await outcome("retried")).toBe(2);
    expect(await listDeadLetters(test.db)).toEqual([]);
  });

  it("gives the message back to the bus when it is closed while trying again", async () => {
    const bus = handBus();
    const consumer = await start(bus, {
      noted: async () => {
        throw new DomainError("SYS_002");
      },
    });
    const delivering = bus.deliver(message("noted", "a"));
    await eventually(async () => expect(await outcome("retried")).toBeGreaterThan(0));
    await consumer.close();
    await expect(delivering).rejects.toMatchObject({ code: "SYS_002" });
    expect(await listDeadLetters(test.db)).toEqual([]);
    expect(await test.db.query(sql`select from inbox`)).toEqual([]);
  });

  it("says how far behind it is", async () => {
    const bus = handBus();
    await start(bus, { noted: note });
    await eventually(async () => {
      const text = await registry.metrics();
      expect(text).toContain('consumer_lag_messages{group="wallet",topic="wonrail.auth.v1",partition="0"} 3');
      expect(text).toContain(
        'consumer_lag_seconds{group="wallet",topic="wonrail.auth.v1",partition="0"} 1.5',
      );
    });
  });

  it("does not say how far behind it is while the bus cannot be asked, nor of partitions that are gone", async () => {
    const bus = handBus();
    const metrics = consumerMetrics(registry, "wallet");
    const other = consumerMetrics(registry, "payment");
    const told = async () => (await registry.metrics()).match(/^consumer_lag_seconds.*/gm);
    const lines = (group: string, partition: number) =>
      `consumer_lag_seconds{group="${group}",topic="wonrail.auth.v1",partition="${partition}"} 1.5`;
    const spec = { group: "wallet", topics: ["wonrail.auth.v1"] };
    other.lag(await bus.lag("payment", spec.topics));
    metrics.lag([{ topic: "wonrail.auth.v1", partition: 1, messages: 3, oldestAgeMs: 1500 }]);
    expect(await told()).toEqual([lines("payment", 0), lines("wallet", 1)]);
    await measureLag(bus, spec, metrics);
    expect(await told()).toEqual([lines("payment", 0), lines("wallet", 0)]);
    const away = { lag: async () => Promise.reject(new Error("the bus is away")) };
    await expect(measureLag(away, spec, metrics)).rejects.toThrow("the bus is away");
    expect(await told()).toEqual([lines("payment", 0)]);
    expect(await registry.metrics()).not.toContain('consumer_lag_messages{group="wallet"');
  });
});

describe("a dead letter", () => {
  it("is worked on again when asked, once, and buried again if it fails again", async () => {
    const bus = handBus();
    let mended = false;
    let held = Promise.resolve();
    await start(bus, {
      noted: async (tx, event) => {
        await held;
        await note(tx, event);
        if (!mended) throw new Error("the bug");
      },
    });
    await bus.deliver(message("noted", "a"), message("noted", "b"));
    const [second, first] = await listDeadLetters(test.db);

    // Not worked on before it was asked for twice.
    let release = (): void => undefined;
    held = new Promise((resolve) => (release = resolve));
    expect(await replayDeadLetters(test.db, { id: first!.id })).toBe(1);
    expect(await replayDeadLetters(test.db, { id: first!.id })).toBe(0);
    release();
    await eventually(async () => {
      expect(await showDeadLetter(test.db, first!.id)).toMatchObject({ state: "dead", failures: 2 });
    });
    expect(await effects()).toEqual([]);

    mended = true;
    expect(await replayDeadLetters(test.db, { group: "wallet" })).toBe(2);
    await eventually(async () => expect(await effects()).toEqual(["a", "b"]));
    expect(await showDeadLetter(test.db, second!.id)).toMatchObject({ state: "replayed" });
    expect(await listDeadLetters(test.db)).toEqual([]);
    expect(await listDeadLetters(test.db, { state: "replayed" })).toHaveLength(2);
    expect(await replayDeadLetters(test.db, { group: "wallet" })).toBe(0);
  });

  it("that was no event and was mended has its effect once, although the bus brings the event as well", async () => {
    const bus = handBus();
    await start(bus, { noted: note });
    const mended = message("noted", "a");
    await bus.deliver({ ...mended, headers: { ...mended.headers, version: "NaN" } });
    await test.db.run(sql`update dead_letters set headers = ${JSON.stringify(mended.headers)}::json`);
    expect(await replayDeadLetters(test.db, { group: "wallet" })).toBe(1);
    await eventually(async () => expect(await effects()).toEqual(["a"]));
    await bus.deliver(mended);
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

  it("forgets what is older than the bus's memory, of the group alone", async () => {
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

  it("goes on behind an event that came long after its id was made", async () => {
    await insert("wallet");
    await grow([...ids.slice(1, 4), ...ids.slice(5, 8)]);
    await pruneInbox(test.db, "wallet", 60_000, 3);
    const left = sql`select replace(event_id::text, '-', '') as id from inbox order by event_id`;
    expect(await test.db.query(left)).toEqual([0, 4, 8, 9].map((index) => ({ id: ids[index] })));
  });

  it("forgets without anybody asking", async () => {
    await insert("wallet");
    await test.db.run(sql`update inbox set received_at = now() - interval '15 days'`);
    await start(handBus(), {});
    await eventually(async () => expect(await test.db.query(sql`select from inbox`)).toEqual([]));
  });
});
