import { newId } from "@wonrail/kit/contract/ids";
import { chargeEntry } from "@wonrail/kit/records/testing/entries";
import { confirmed, openWorld, type World } from "../testing/world";

let stopAt: string | undefined;
jest.mock("@wonrail/kit/failpoint", () => ({
  async failpoint(name: string): Promise<void> {
    if (name === stopAt) throw new Error(`stopped at ${name}`);
  },
}));

let world: World;
beforeAll(async () => void (world = await openWorld()));
afterAll(() => world.close());
afterEach(() => void (stopAt = undefined));

test("a stop before the commit leaves nothing, and the next attempt leaves no gap", async () => {
  const orgId = newId("org");
  const [one, two] = [chargeEntry(newId("wal"), 1_000n, 1_000n), chargeEntry(newId("wal"), 2_000n, 2_000n)];
  await world.post(orgId, one);
  stopAt = "events.publishing";
  await expect(world.post(orgId, two)).rejects.toThrow("stopped");
  await expect(world.settle(orgId, confirmed(one.requestId))).rejects.toThrow("stopped");
  stopAt = undefined;
  expect((await world.list(orgId)).events).toHaveLength(1);
  await world.settle(orgId, confirmed(one.requestId));
  await world.post(orgId, two);
  const { events } = await world.list(orgId);
  expect(events.map(({ sequence, type }) => [sequence, type])).toEqual([
    [1n, "charge.created"],
    [2n, "settlement.confirmed"],
    [3n, "charge.created"],
  ]);
});
