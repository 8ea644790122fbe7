import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { type PromiseClient } from "@wonrail/kit/grpc/client";
import { chargeEntry } from "@wonrail/kit/records/testing/entries";
import { eventually, supporter, viewer, wholeScans } from "@wonrail/kit/testing";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { EventsAdminServiceService } from "@wonrail/proto/events/v1/admin";
import { DeliveryStatus } from "@wonrail/proto/events/v1/events";
import { adminRpc } from "./adminRpc";
import { findEventsById, listObjectEvents } from "./feed";
import { openWorld, type World } from "./feed/testing/world";
import { findWebhook, listEventDeliveries, listWebhookViews, readOverview } from "./webhooks";
import { type Receiver, startReceiver } from "./webhooks/testing/receiver";

let world: World;
let receiver: Receiver;
let admin: PromiseClient<typeof EventsAdminServiceService>;
const opening = buildWorld(async (open) => {
  world = await open.use(openWorld());
  receiver = await open.use(startReceiver());
  const { address } = await open.server([adminRpc(world)]);
  admin = open.client(EventsAdminServiceService, address);
  return {};
});
beforeAll(() => opening);
afterAll(async () => (await opening).close());
beforeEach(() => receiver.reset());

async function createWebhook(orgId: string): Promise<string> {
  const wanted = { orgId, url: receiver.url, eventTypes: [], description: "", after: null };
  const { webhook } = await world.app.createWebhook({ ...wanted, status: "ENABLED", ordering: "NONE" });
  return webhook.webhookId;
}

/** Posts a charge, which makes two events: the charge's and its wallet's. */
async function post(orgId: string): Promise<string> {
  const entry = chargeEntry(newId("wal"), 5_000n, 5_000n);
  await world.post(orgId, entry);
  return entry.requestId;
}

test("the events of an object are listed with the webhook attempts of each", async () => {
  const orgId = newId("org");
  const webhookId = await createWebhook(orgId);
  receiver.answer(() => 500);
  const objectId = await post(orgId);
  await post(orgId);
  const list = (afterSequence?: bigint) =>
    admin.listObjectEvents({ operator: supporter, orgId, objectId, afterSequence, limit: 1 });
  await eventually(async () => {
    const { events, nextAfterSequence } = await list();
    expect(events).toMatchObject([
      {
        event: { type: "charge.created", objectId },
        deliveries: [
          {
            ...{ webhookId, url: receiver.url },
            delivery: { status: DeliveryStatus.PENDING, attempts: [{ number: 1, statusCode: 500 }] },
          },
        ],
      },
    ]);
    expect(nextAfterSequence).toBeUndefined();
  });
  const [shown] = (await list()).events;
  expect((await list(shown!.event!.sequence)).events).toEqual([]);
  const elsewhere = { operator: supporter, orgId: newId("org"), objectId, limit: 1 };
  expect((await admin.listObjectEvents(elsewhere)).events).toEqual([]);
});

test("search finds an event and a webhook of any organisation by id", async () => {
  const orgId = newId("org");
  const webhookId = await createWebhook(orgId);
  const objectId = await post(orgId);
  const { eventId } = (await world.list(orgId, { objectId })).events[0]!;
  const hitsOf = async (text: string) => (await admin.search({ operator: viewer, text })).hits;
  expect(await hitsOf(` ${eventId}`)).toEqual([
    { kind: "event", id: eventId, orgId, title: `charge.created of ${objectId}` },
  ]);
  expect(await hitsOf(webhookId)).toEqual([
    { kind: "webhook", id: webhookId, orgId, title: `ENABLED webhook to ${receiver.url}` },
  ]);
  for (const text of ["", objectId, newId("evt"), newId("whk")]) expect(await hitsOf(text)).toEqual([]);
});

test("the overview counts failing and disabled webhooks, and due and waiting deliveries", async () => {
  const orgId = newId("org");
  const [failing, disabled] = [await createWebhook(orgId), await createWebhook(orgId)];
  await world.db.run(sql`update webhooks set failing_since = null`);
  await world.db.run(sql`
    update webhooks set failing_since = '2026-11-01Z' where webhook_id = ${failing}`);
  await world.db.run(sql`
    update webhooks set status = 'DISABLED', disabled_reason = 'GONE' where webhook_id = ${disabled}`);
  await world.db.run(sql`delete from deliveries`);
  await world.db.run(sql`
    insert into deliveries (org_id, webhook_id, delivery_id, event_id, event_type, object_id, sequence, waits_until)
    values (${orgId}, ${disabled}, 'dlv_1', gen_random_uuid(), 'x', 'y', 1, null),
      (${orgId}, ${disabled}, 'dlv_2', gen_random_uuid(), 'x', 'y', 2, now() + interval '1 hour'),
      (${orgId}, ${disabled}, 'dlv_3', gen_random_uuid(), 'x', 'y', 3, now() + interval '1 hour')`);
  expect(await admin.getOverview({ operator: viewer })).toEqual({
    ...{ failingWebhooks: 1, failingSince: new Date("2026-11-01Z"), disabledWebhooks: 1 },
    ...{ dueDeliveries: 1, waitingDeliveries: 2 },
  });
  const { webhooks } = await admin.listWebhookStates({ operator: viewer, troubled: true, limit: 10 });
  expect(webhooks.map(({ webhookId }) => webhookId)).toEqual([failing, disabled]);
});

test("no view reads a growing table whole", async () => {
  const orgId = newId("org");
  const scans = await wholeScans(world.db, async (db) => {
    await readOverview(db);
    await listObjectEvents(db, { orgId, objectId: "chg_1", after: 0n, limit: 10 });
    await listEventDeliveries(db, orgId, [newId("evt")]);
    await findEventsById(db, newId("evt"));
    await findWebhook(db, "whk_1");
    for (const isTroubled of [true, false])
      await listWebhookViews(db, { orgId: null, webhookId: null, isTroubled, limit: 10 });
  });
  expect(scans).toEqual([]);
});
