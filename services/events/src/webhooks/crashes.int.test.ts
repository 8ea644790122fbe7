import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { chargeEntry } from "@wonrail/kit/records/testing/entries";
import { eventually } from "@wonrail/kit/testing";
import { openWorld, type World } from "../feed/testing/world";
import { type Receiver, startReceiver } from "./testing/receiver";

let stopAt: string | undefined;
let stops = 0;
jest.mock("@wonrail/kit/failpoint", () => ({
  async failpoint(name: string): Promise<void> {
    if (name !== stopAt) return;
    stops += 1;
    throw new Error(`stopped at ${name}`);
  },
}));

let world: World;
let receiver: Receiver;
beforeAll(async () => {
  world = await openWorld();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  await world.close();
});

test.each([
  ["before the post", "events.dispatching", 1],
  ["between the post and the write", "events.delivered", 2],
])("a delivery that stops %s arrives when its lease ends, under the same id", async (_, point, arrivals) => {
  receiver.reset();
  const orgId = newId("org");
  const wanted = { orgId, url: receiver.url, eventTypes: [], description: "", after: null };
  await world.app.createWebhook({ ...wanted, status: "ENABLED", ordering: "OBJECT" });
  [stopAt, stops] = [point, 0];
  await world.post(orgId, chargeEntry(newId("wal"), 5_000n, 5_000n));
  await eventually(() => expect(stops).toBe(1));
  stopAt = undefined;
  await world.db.run(sql`update deliveries set waits_until = now() where org_id = ${orgId}`);
  const requests = await receiver.received(arrivals);
  const { events } = await world.list(orgId);
  expect(requests.map(({ headers }) => headers["webhook-id"])).toEqual(
    Array(arrivals).fill(events[0]!.eventId),
  );
});
