import { newId } from "@wonrail/kit/contract/ids";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { supporter } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { EventsAdminServiceService } from "@wonrail/proto/events/v1/admin";
import { EventsServiceService, Order } from "@wonrail/proto/events/v1/events";
import { adminRpc } from "./adminRpc";
import { openWorld } from "./feed/testing/world";
import { rpc } from "./rpc";

let admin: PromiseClient<typeof EventsAdminServiceService>;
let events: PromiseClient<typeof EventsServiceService>;
const opening = buildWorld(async (open) => {
  const world = await open.use(openWorld());
  const { address } = await open.server([...rpc(world.app), adminRpc(world)]);
  admin = open.client(EventsAdminServiceService, address);
  events = open.client(EventsServiceService, address);
  return {};
});
beforeAll(() => opening);
afterAll(async () => (await opening).close());

const orgId = newId("org");
const listEvents = (after: bigint) =>
  events.listEvents({ orgId, after, types: [], limit: 1, waitMs: 0, order: Order.ASCENDING });
const listObjectEvents = (afterSequence: bigint) =>
  admin.listObjectEvents({ operator: supporter, orgId, objectId: "chg_1", afterSequence, limit: 1 });

test.each([
  ["listEvents", "after", listEvents],
  ["listObjectEvents", "afterSequence", listObjectEvents],
])("%s takes a cursor up to 2^63 - 1 and refuses a larger one", async (_method, path, list) => {
  expect((await list(2n ** 63n - 1n)).events).toEqual([]);
  for (const cursor of [2n ** 63n, 2n ** 64n - 1n])
    await expect(list(cursor)).rejects.toMatchObject({
      code: "REQ_001",
      details: { fields: [{ path, message: `must be at most ${2n ** 63n - 1n}` }] },
    });
});
