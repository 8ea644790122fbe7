import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { chargeEntry, cancelChargeEntry } from "@wonrail/kit/records/testing/entries";
import { eventually } from "@wonrail/kit/testing";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { openWorld, type World } from "../feed/testing/world";
import { HOSTILE, startHostileReceiver } from "./testing/hostileReceivers";
import { startReceiver, type Receiver } from "./testing/receiver";

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
beforeEach(() => receiver.reset());

const charge = () => chargeEntry(newId("wal"), 5_000n, 5_000n);

async function subscribe(orgId: string, change: Partial<Parameters<World["app"]["createWebhook"]>[0]> = {}) {
  const wanted = { url: receiver.url, eventTypes: [], description: "", after: null };
  const made = await world.app.createWebhook({
    ...wanted,
    ...{ orgId, status: "ENABLED", ordering: "NONE", ...change },
  });
  return { ...made, key: { orgId, webhookId: made.webhook.webhookId } };
}

const page = { limit: 100, offset: 0, after: null };
const deliveriesOf = async (key: { orgId: string; webhookId: string }) =>
  (await world.app.listDeliveries({ ...key, status: null }, page)).items;
/** Makes everything due, as time would. */
const passTime = (orgId: string) =>
  world.db.run(
    sql`update deliveries set next_attempt_at = now(), waits_until = null where org_id = ${orgId}`,
  );

test("an event arrives as a read answers it, signed so that another library verifies it", async () => {
  const orgId = newId("org");
  const { key, secret } = await subscribe(orgId);
  await world.post(orgId, charge());
  const [request] = await receiver.received(1);
  const { events } = await world.list(orgId);
  const verified = new StandardWebhook(secret).verify(request!.body, request!.headers);
  expect(verified).toEqual({
    ...events[0],
    ...{ sequence: 1, objectSequence: 1, createdAt: events[0]!.createdAt.toISOString() },
  });
  expect(request!.headers["webhook-id"]).toBe(events[0]!.eventId);
  await eventually(async () =>
    expect(await deliveriesOf(key)).toMatchObject([
      {
        status: "DELIVERED",
        eventId: events[0]!.eventId,
        tries: [
          {
            ...{ number: 1, statusCode: 204, error: null },
            requestHead: expect.stringContaining(
              `webhook-signature: ${request!.headers["webhook-signature"]}`,
            ),
          },
        ],
      },
    ]),
  );
});

test("only wanted types arrive, and events of one organisation at its own endpoint", async () => {
  const [orgId, other] = [newId("org"), newId("org")];
  await subscribe(orgId, { eventTypes: ["charge.cancelled"] });
  const first = charge();
  await world.post(other, charge());
  await world.post(
    orgId,
    first,
    cancelChargeEntry(first, { amountWon: 1n, cancelledWon: 1n, balanceWon: 4_999n }),
  );
  const [request] = await receiver.received(1);
  expect(JSON.parse(request!.body)).toMatchObject({ type: "charge.cancelled", objectId: first.requestId });
  expect(receiver.requests).toHaveLength(1);
});

test("deliveries are listed from the newest event to the oldest", async () => {
  const orgId = newId("org");
  const { key } = await subscribe(orgId);
  await world.post(orgId, ...Array.from({ length: 5 }, charge));
  await receiver.received(5);
  const newestFirst = [5n, 4n, 3n, 2n, 1n];
  expect((await deliveriesOf(key)).map(({ sequence }) => sequence)).toEqual(newestFirst);
  expect((await world.app.replayWebhook(key, { after: 0n, upTo: 5n })).answer).toEqual({ deliveries: 5 });
  expect((await deliveriesOf(key)).map(({ sequence }) => sequence)).toEqual([...newestFirst, ...newestFirst]);
});

test("during the overlap of a rotation both secrets verify, and afterwards the new one", async () => {
  const orgId = newId("org");
  const { key, secret } = await subscribe(orgId);
  const rotated = await world.app.rotateSecret(key, 60_000);
  await world.post(orgId, charge());
  const [both] = await receiver.received(1);
  for (const each of [secret, rotated.secret]) new StandardWebhook(each).verify(both!.body, both!.headers);
  await world.app.rotateSecret(key, 0);
  await world.post(orgId, charge());
  const [, later] = await receiver.received(2);
  for (const each of [secret, rotated.secret])
    expect(() => new StandardWebhook(each).verify(later!.body, later!.headers)).toThrow();
});

test("a failing endpoint is tried again, then the delivery fails for good and can be replayed", async () => {
  const orgId = newId("org");
  const { key } = await subscribe(orgId);
  receiver.answer(() => 500);
  await world.post(orgId, charge());
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await eventually(async () => expect((await deliveriesOf(key))[0]).toMatchObject({ attempts: attempt }));
    await passTime(orgId);
  }
  await eventually(async () =>
    expect((await deliveriesOf(key))[0]).toMatchObject({ status: "FAILED", attempts: 10 }),
  );
  expect((await world.app.getWebhook(key)).failingSince).not.toBeNull();
  receiver.answer(() => 204);
  expect((await world.app.replayWebhook(key, "failed")).answer).toEqual({ deliveries: 1 });
  await eventually(async () =>
    expect((await deliveriesOf(key))[0]).toMatchObject({ status: "DELIVERED", attempts: 1 }),
  );
  expect((await world.app.getWebhook(key)).failingSince).toBeNull();
  expect((await world.app.replayWebhook(key, { after: 0n, upTo: 9n })).answer).toEqual({ deliveries: 1 });
  await eventually(async () => expect(await deliveriesOf(key)).toHaveLength(2));
});

test("a replay of the failed deliveries includes one that pauses before a later attempt", async () => {
  const orgId = newId("org");
  const { key } = await subscribe(orgId);
  receiver.answer(() => 500);
  await world.post(orgId, charge());
  await eventually(async () => expect((await deliveriesOf(key))[0]).toMatchObject({ attempts: 1 }));
  await passTime(orgId);
  // The pause after the second attempt takes minutes.
  await eventually(async () => expect((await deliveriesOf(key))[0]).toMatchObject({ attempts: 2 }));
  receiver.answer(() => 204);
  expect((await world.app.replayWebhook(key, "failed")).answer).toEqual({ deliveries: 1 });
  await eventually(async () =>
    expect((await deliveriesOf(key))[0]).toMatchObject({ status: "DELIVERED", attempts: 1 }),
  );
});

test("410 disables the endpoint, whose event waits until it is enabled", async () => {
  const orgId = newId("org");
  const { key } = await subscribe(orgId);
  receiver.answer(() => 410);
  await world.post(orgId, charge());
  await eventually(async () =>
    expect(await world.app.getWebhook(key)).toMatchObject({ status: "DISABLED", disabledReason: "GONE" }),
  );
  expect(await deliveriesOf(key)).toMatchObject([{ status: "PENDING", attempts: 1 }]);
  receiver.answer(() => 204);
  await world.app.updateWebhook(key, { status: "ENABLED" });
  await passTime(orgId);
  await eventually(async () => expect(await deliveriesOf(key)).toMatchObject([{ status: "DELIVERED" }]));
});

test("a test that is answered with 410 is not attempted again", async () => {
  const { key } = await subscribe(newId("org"));
  receiver.answer(() => 410);
  await world.app.testWebhook(key);
  await eventually(async () => expect(await deliveriesOf(key)).toMatchObject([{ status: "FAILED" }]));
});

test("an endpoint that starts from a cursor gets the events behind it", async () => {
  const orgId = newId("org");
  await world.post(orgId, charge(), charge(), charge());
  await subscribe(orgId, { after: 1n });
  const requests = await receiver.received(2);
  expect(requests.map(({ body }) => JSON.parse(body).sequence).sort()).toEqual([2, 3]);
  await expect(subscribe(orgId, { after: 4n })).rejects.toMatchObject({ code: "REQ_001" });
  await world.db.run(sql`delete from events where org_id = ${orgId} and sequence <= 2`);
  await expect(subscribe(orgId, { after: 1n })).rejects.toMatchObject({
    code: "EVT_002",
    details: { oldestAfter: "2" },
  });
});

test("events wait for a disabled endpoint, and a test reaches it", async () => {
  const orgId = newId("org");
  const { key } = await subscribe(orgId, { status: "DISABLED" });
  await world.post(orgId, charge(), charge());
  await world.app.testWebhook(key);
  const [test] = await receiver.received(1);
  expect(JSON.parse(test!.body)).toMatchObject({ type: "webhook.test", data: { webhookId: key.webhookId } });
  await world.app.updateWebhook(key, { status: "ENABLED" });
  const requests = await receiver.received(3);
  expect(
    requests
      .slice(1)
      .map(({ body }) => JSON.parse(body).sequence)
      .sort(),
  ).toEqual([1, 2]);
});

test("with the ordering by object an event waits for the earlier ones of its object only", async () => {
  const orgId = newId("org");
  const { key } = await subscribe(orgId, { ordering: "OBJECT" });
  const [stuck, free] = [charge(), charge()];
  receiver.answer(({ body }) => (JSON.parse(body).objectId === stuck.requestId ? 500 : 204));
  const part = (of: typeof stuck, cancelledWon: bigint) =>
    cancelChargeEntry(of, { amountWon: 1n, cancelledWon, balanceWon: 1n });
  await world.post(orgId, stuck, free, part(stuck, 1n), part(free, 1n), part(stuck, 2n));
  await receiver.received(3);
  const arrived = () => receiver.requests.map(({ body }) => JSON.parse(body));
  expect(
    arrived()
      .filter(({ objectId }) => objectId === stuck.requestId)
      .map(({ objectSequence }) => objectSequence),
  ).toEqual([1]);
  const statuses = async () => (await deliveriesOf(key)).map(({ status }) => status).sort();
  // A delivery under way that became due would be sent twice.
  await eventually(async () =>
    expect(await statuses()).toEqual(["DELIVERED", "DELIVERED", "PENDING", "PENDING", "PENDING"]),
  );
  receiver.answer(() => 204);
  receiver.requests.length = 0;
  await passTime(orgId);
  await receiver.received(3);
  expect(arrived().map(({ objectId, objectSequence }) => [objectId, objectSequence])).toEqual([
    [stuck.requestId, 1],
    [stuck.requestId, 2],
    [stuck.requestId, 3],
  ]);
  await eventually(async () =>
    expect((await deliveriesOf(key)).every(({ status }) => status === "DELIVERED")).toBe(true),
  );
});

test("endpoints that fail in every way do not hold up another organisation's", async () => {
  const hostile = await Promise.all(HOSTILE.map(startHostileReceiver));
  try {
    const keys = await Promise.all(
      hostile.map(async ({ url }) => {
        const orgId = newId("org");
        const { key } = await subscribe(orgId, { url });
        await world.post(orgId, ...Array.from({ length: 30 }, charge));
        return key;
      }),
    );
    await eventually(() => expect(hostile.map((one) => one.count() > 0)).toEqual(hostile.map(() => true)));
    const orgId = newId("org");
    await subscribe(orgId);
    const startedMs = performance.now();
    await world.post(orgId, charge());
    await receiver.received(1);
    // Less than an attempt at a hanging endpoint takes.
    expect(performance.now() - startedMs).toBeLessThan(8_000);
    for (const one of hostile) await one.close();
    for (const key of keys)
      await eventually(async () => expect((await world.app.getWebhook(key)).failingSince).not.toBeNull());
    for (const key of keys)
      expect((await deliveriesOf(key)).filter(({ status }) => status !== "PENDING")).toEqual([]);
  } finally {
    await Promise.all(hostile.map((one) => one.close()));
  }
});

test("a delivery whose replica died is attempted again when its lease ends", async () => {
  const orgId = newId("org");
  const { key } = await subscribe(orgId, { status: "DISABLED" });
  await world.app.testWebhook(key);
  await receiver.received(1);
  await eventually(async () => expect((await deliveriesOf(key))[0]).toMatchObject({ status: "DELIVERED" }));
  // As a replica leaves it that sent the delivery and died before it wrote so.
  await world.db.run(sql`
    update deliveries set status = 'PENDING', finished_at = null, waits_until = now() + interval '1 second'
    where org_id = ${orgId}`);
  const [first, second] = await receiver.received(2);
  expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
});

test("an endpoint that fails for five days is warned of at 50 and 75 percent, and then disabled", async () => {
  const orgId = newId("org");
  // The metric counts all webhooks.
  await world.db.run(sql`delete from webhooks`);
  const { key } = await subscribe(orgId, { eventTypes: ["refund.created"] });
  const failFor = async (days: number) => {
    await world.db.run(sql`
      update webhooks set failing_since = now() - ${days} * interval '1 day' where webhook_id = ${key.webhookId}`);
    await world.app.warnFailing();
    const { events } = await world.list(orgId);
    return { types: events.map(({ type }) => type), states: await statesInMetric() };
  };
  const failing = (times: number) => Array<string>(times).fill("webhook.failing");
  expect(await failFor(2.4)).toEqual({ types: [], states: ["failing"] });
  expect(await failFor(2.6)).toEqual({ types: failing(1), states: ["warned_50"] });
  expect(await failFor(3)).toEqual({ types: failing(1), states: ["warned_50"] });
  expect(await failFor(3.8)).toEqual({ types: failing(2), states: ["warned_75"] });
  const types = [...failing(2), "webhook.disabled"];
  expect(await failFor(5.1)).toEqual({ types, states: ["disabled"] });
  expect(await failFor(6)).toEqual({ types, states: ["disabled"] });
  expect(await world.app.getWebhook(key)).toMatchObject({ status: "DISABLED", disabledReason: "FAILING" });
});

/** The states under which the metric counts webhooks. */
async function statesInMetric(): Promise<unknown[]> {
  const { values } = await world.registry.getSingleMetric("webhook_endpoints")!.get();
  return values.filter(({ value }) => value > 0).map(({ labels }) => labels["state"]);
}

test("another organisation's webhook answers as an absent one", async () => {
  const { key } = await subscribe(newId("org"));
  const foreign = { ...key, orgId: newId("org") };
  const absent = { code: "WHK_001" };
  for (const ask of [
    () => world.app.getWebhook(foreign),
    () => world.app.updateWebhook(foreign, { description: "mine" }),
    () => world.app.deleteWebhook(foreign),
    () => world.app.rotateSecret(foreign, 0),
    () => world.app.testWebhook(foreign),
    () => world.app.replayWebhook(foreign, "failed"),
    () => world.app.listDeliveries({ ...foreign, status: null }, page),
  ])
    await expect(ask()).rejects.toMatchObject(absent);
  expect(await world.app.getWebhook(key)).toMatchObject({ description: "" });
});

test("a secret is stored sealed, and one webhook too many is refused", async () => {
  const orgId = newId("org");
  const { secret } = await subscribe(orgId, { status: "DISABLED" });
  const { sealed } = await world.db.one<{ sealed: Buffer }>(
    sql`select sealed_secret as sealed from webhooks where org_id = ${orgId}`,
  );
  expect(sealed.includes(secret)).toBe(false);
  for (let made = 1; made < 50; made += 1) await subscribe(orgId, { status: "DISABLED" });
  await expect(subscribe(orgId)).rejects.toMatchObject({ code: "WHK_003", details: { limit: 50 } });
  await expect(subscribe(newId("org"), { url: "https://10.0.0.1/" })).rejects.toMatchObject({
    code: "WHK_002",
    details: { reason: "address_not_allowed" },
  });
});
