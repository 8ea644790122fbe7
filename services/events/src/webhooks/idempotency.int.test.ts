import { newId } from "@wonrail/kit/contract/ids";
import { sql, tx } from "@wonrail/kit/db";
import { type KeyedRequest } from "@wonrail/kit/idempotency";
import { openWorld, type World } from "../feed/testing/world";

// Repeated requests with an Idempotency-Key.

let world: World;
let orgId: string;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => (orgId = newId("org")));

const keyed = (operation: string, content = 0): KeyedRequest => ({
  ...{ orgId, operation, key: "one", requestHash: Buffer.alloc(32, content) },
});

function create(content = 0, key: KeyedRequest | undefined = keyed("createWebhook", content)) {
  return world.app.createWebhook({
    ...{ orgId, url: "http://127.0.0.1:9/hook", eventTypes: [], description: "", after: null },
    ...{ status: "DISABLED", ordering: "NONE", keyed: key },
  });
}

async function storedAnswers(): Promise<string> {
  const rows = await world.db.query<{ answer: string }>(
    sql`select answer::text as answer from idempotency_keys where org_id = ${orgId}`,
  );
  return rows.map(({ answer }) => answer).join("\n");
}

test("a repeated creation makes no second webhook and shows the same secret, which is stored sealed", async () => {
  const first = await create();
  expect(first.replayed).toBe(false);
  expect(await create()).toEqual({ ...first, replayed: true });
  await expect(create(1)).rejects.toMatchObject({ code: "REQ_003" });
  const { items } = await world.app.listWebhooks(orgId, { limit: 5, offset: 0, after: null });
  expect(items).toHaveLength(1);
  const stored = await storedAnswers();
  expect(stored).toContain(first.webhook.webhookId);
  expect(stored).not.toContain(first.secret.slice("whsec_".length));
});

test("ten concurrent creations under one key make one webhook", async () => {
  const made = await Promise.all(Array.from({ length: 10 }, () => create()));
  expect(new Set(made.map(({ webhook, secret }) => `${webhook.webhookId} ${secret}`)).size).toBe(1);
  expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
});

test("a repeated rotation shows the same secret, and a later creation's replay the first one", async () => {
  const made = await create();
  const key = { orgId, webhookId: made.webhook.webhookId };
  const rotate = () => world.app.rotateSecret(key, 60_000, keyed("rotateWebhookSecret"));
  const first = await rotate();
  expect(first.secret).not.toBe(made.secret);
  expect(await rotate()).toEqual({ ...first, replayed: true });
  const again = await world.app.rotateSecret(key, 60_000);
  expect(again.secret).not.toBe(first.secret);
  expect((await rotate()).secret).toBe(first.secret);
  expect((await create()).secret).toBe(made.secret);
});

test("a repeated test and a repeated replay make no second delivery", async () => {
  const { webhook } = await create();
  const key = { orgId, webhookId: webhook.webhookId };
  const send = () => world.app.testWebhook(key, keyed("testWebhook"));
  const first = await send();
  expect(await send()).toEqual({ answer: first.answer, replayed: true });
  const page = { limit: 5, offset: 0, after: null };
  expect((await world.app.listDeliveries({ ...key, status: null }, page)).items).toHaveLength(1);
  await world.db.run(
    sql`update deliveries set status = 'FAILED', finished_at = now() where org_id = ${orgId}`,
  );
  const replay = () => world.app.replayWebhook(key, "failed", keyed("replayWebhook"));
  expect(await replay()).toEqual({ answer: { deliveries: 1 }, replayed: false });
  await world.db.run(
    sql`update deliveries set status = 'FAILED', finished_at = now() where org_id = ${orgId}`,
  );
  expect(await replay()).toEqual({ answer: { deliveries: 1 }, replayed: true });
});

test("a replay includes a delivery whose attempt is being saved", async () => {
  const { webhook } = await create();
  const key = { orgId, webhookId: webhook.webhookId };
  const { deliveryId } = (await world.app.testWebhook(key)).answer;
  await world.db.run(
    sql`update deliveries set status = 'FAILED', finished_at = now() where org_id = ${orgId}`,
  );
  const replayed = await tx(world.db, async (tx) => {
    // The foreign key of a new attempt takes this lock.
    await tx.query(sql`select 1 from deliveries where delivery_id = ${deliveryId} for key share`);
    return world.app.replayWebhook(key, "failed");
  });
  expect(replayed.answer).toEqual({ deliveries: 1 });
});

test("a refusal leaves the key free", async () => {
  const key = { orgId, webhookId: newId("whk") };
  await expect(world.app.testWebhook(key, keyed("testWebhook"))).rejects.toMatchObject({ code: "WHK_001" });
  const { webhook } = await create();
  const sent = await world.app.testWebhook({ orgId, webhookId: webhook.webhookId }, keyed("testWebhook"));
  expect(sent.replayed).toBe(false);
});
