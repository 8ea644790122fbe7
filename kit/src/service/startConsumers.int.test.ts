import { type Bus, type SubscribeOptions, TopicRefusedError } from "../bus";
import { type ConsumerSpec } from "../inbox";
import { Registry } from "../metrics";
import { createTestDatabase, eventually, testLog, type TestDatabase } from "../testing";
import { type RunningConsumers, startConsumers } from "./startConsumers";

let database: TestDatabase;
let joined: RunningConsumers | undefined;
beforeAll(async () => void (database = await createTestDatabase({ schema: "sample" })));
afterEach(() => joined?.close());
afterAll(() => database.drop());

test("a group counts as joined while its own subscription lives", async () => {
  const registry = new Registry();
  let isLive = true;
  const bus: Partial<Bus> = {
    ensureTopics: async () => undefined,
    async subscribe({ group }) {
      if (group === "forbidden") throw new Error("not authorized to access the group");
      return { live: () => isLive, close: async () => undefined };
    },
  };
  const consumers = ["allowed", "forbidden"].map((group) => ({ group, topics: ["t"], handlers: {} }));
  const { live } = join(bus, consumers, registry);
  const expectJoined = async (allowed: number) => {
    const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("consumer_joined"));
    expect(lines).toEqual([
      `consumer_joined{group="allowed"} ${allowed}`,
      `consumer_joined{group="forbidden"} 0`,
    ]);
  };

  await eventually(() => expectJoined(1));
  expect(live()).toBe(true);
  isLive = false;
  await expectJoined(0);
  expect(live()).toBe(false);
});

test("a crashed subscription is replaced, and the process continues", async () => {
  const registry = new Registry();
  const open = new Set<SubscribeOptions>();
  let subscribed = 0;
  const bus: Partial<Bus> = {
    ensureTopics: async () => undefined,
    async subscribe(options) {
      subscribed += 1;
      if (subscribed === 2) options.onCrash!(new Error("evicted at once"));
      open.add(options);
      return { live: () => true, close: async () => void open.delete(options) };
    },
  };
  const { live } = join(bus, [{ group: "group", topics: ["t"], handlers: {} }], registry);
  const lines = async () =>
    (await registry.metrics()).match(/^consumer_(joined|crashes_total)\{.*$/gm)?.sort();
  await eventually(async () =>
    expect(await lines()).toEqual([
      'consumer_crashes_total{group="group"} 0',
      'consumer_joined{group="group"} 1',
    ]),
  );

  [...open][0]!.onCrash!(new Error("Failed to find group coordinator"));
  await eventually(async () => expect(await lines()).toContain('consumer_joined{group="group"} 0'));
  expect(live()).toBe(true);
  await eventually(async () =>
    expect(await lines()).toEqual([
      'consumer_crashes_total{group="group"} 2',
      'consumer_joined{group="group"} 1',
    ]),
  );
  expect([subscribed, open.size]).toEqual([3, 1]);
  await joined!.close();
  expect(open.size).toBe(0);
});

test("an unsafe topic ends the process", async () => {
  const refused = new TopicRefusedError("t has 1 of 3 replicas");
  const bus: Partial<Bus> = { ensureTopics: () => Promise.reject(refused) };
  const fail = jest.fn();
  join(bus, [], new Registry(), fail);
  await eventually(() => expect(fail).toHaveBeenCalledWith(refused));
});

function join(
  bus: Partial<Bus>,
  consumers: ConsumerSpec[],
  registry: Registry,
  fail: (error: unknown) => void = () => undefined,
): RunningConsumers {
  const feeds = { t: { listEvents: async () => ({ events: [], heads: [] }) } };
  const parts = { db: database.db, bus: bus as Bus, topics: [], feeds, log: testLog(), registry, fail };
  joined = startConsumers({ ...parts, consumers });
  return joined;
}
