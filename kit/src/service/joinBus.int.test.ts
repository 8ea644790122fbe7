import { type Bus } from "../bus";
import { Registry } from "../metrics";
import { createTestDatabase, eventually, testLog, type TestDatabase } from "../testing";
import { joinBus, type JoinedBus } from "./joinBus";

let database: TestDatabase;
let joined: JoinedBus;
beforeAll(async () => void (database = await createTestDatabase({ schema: "sample" })));
afterAll(async () => {
  await joined.close();
  await database.drop();
});

test("a group counts as joined for as long as its consumer lives, each for itself", async () => {
  const registry = new Registry();
  let isLive = true;
  const bus: Partial<Bus> = {
    ensureTopics: async () => undefined,
    async subscribe({ group }) {
      if (group === "forbidden") throw new Error("not authorized to access the group");
      return { live: () => isLive, close: async () => undefined };
    },
    lag: async () => [],
  };
  const consumers = ["allowed", "forbidden"].map((group) => ({ group, topics: ["t"], handlers: {} }));
  joined = joinBus({ db: database.db, bus: bus as Bus, topics: [], consumers, log: testLog(), registry });
  const expectJoined = async (allowed: number) => {
    const lines = (await registry.metrics()).split("\n").filter((line) => line.startsWith("consumer_joined"));
    expect(lines).toEqual([
      `consumer_joined{group="allowed"} ${allowed}`,
      `consumer_joined{group="forbidden"} 0`,
    ]);
  };

  await eventually(() => expectJoined(1));
  expect(joined.live()).toBe(true);
  isLive = false;
  await expectJoined(0);
  expect(joined.live()).toBe(false);
});
