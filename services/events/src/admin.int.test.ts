import { newId } from "@wonrail/kit/contract/ids";
import { sql } from "@wonrail/kit/db";
import { chargeEntry } from "@wonrail/kit/records/testing/entries";
import { eventually } from "@wonrail/kit/testing";
import { listOperatorActions } from "@wonrail/kit/admin";
import { buildWorld } from "@wonrail/kit/testing/buildWorld";
import { runAdmin } from "./admin";
import { adminRpc } from "./adminRpc";
import { openWorld, type World } from "./feed/testing/world";
import { type Receiver, startReceiver } from "./webhooks/testing/receiver";

let world: World;
let receiver: Receiver;
let address: string;
const opening = buildWorld(async (open) => {
  world = await open.use(openWorld());
  receiver = await open.use(startReceiver());
  return open.server([adminRpc(world)]);
});
beforeAll(async () => {
  ({ address } = await opening);
});
afterAll(async () => (await opening).close());

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const output = { out: "", err: "" };
  const code = await runAdmin(args, {
    config: { EVENTS_ADDRESS: address, USER: "tester" },
    out: (text) => (output.out += text),
    err: (text) => (output.err += text),
  });
  return { code, ...output };
}

async function listed(...args: string[]): Promise<Record<string, unknown>[]> {
  const { code, out } = await run("webhook", ...args, "--json");
  expect(code).toBe(0);
  return JSON.parse(out) as Record<string, unknown>[];
}

const REASON = ["--reason", "test"];
const SERVICE = "wonrail.events.v1.EventsAdminService";

const post = (orgId: string) => world.post(orgId, chargeEntry(newId("wal"), 5_000n, 5_000n));

test("a webhook is listed with its backlog, disabled, enabled, and its failed deliveries follow again", async () => {
  const orgId = newId("org");
  const wanted = { orgId, url: receiver.url, eventTypes: [], description: "", after: null };
  const { webhook } = await world.app.createWebhook({ ...wanted, status: "ENABLED", ordering: "NONE" });
  const { webhookId } = webhook;
  receiver.answer(() => 500);
  await post(orgId);
  await eventually(async () =>
    expect(await listed("list", "--org", orgId, "--troubled")).toMatchObject([
      { orgId, webhookId, status: "ENABLED", pendingDeliveries: 1, failingSince: expect.any(String) },
    ]),
  );
  expect(await run("webhook", "disable", webhookId, ...REASON)).toMatchObject({ code: 0 });
  expect((await world.list(orgId)).events.at(-1)).toMatchObject({ type: "webhook.disabled" });
  expect(await listed("list", "--webhook", webhookId)).toMatchObject([
    { status: "DISABLED", disabledReason: "OPERATOR", eventsBehind: 1 },
  ]);
  await world.db.run(
    sql`update deliveries set status = 'FAILED', finished_at = now() where org_id = ${orgId}`,
  );
  expect(await listed("deliveries", webhookId, "--status", "FAILED")).toMatchObject([
    { eventType: "charge.created", tries: [{ statusCode: 500 }] },
  ]);
  receiver.answer(() => 204);
  expect(await run("webhook", "enable", webhookId, ...REASON)).toMatchObject({ code: 0 });
  expect(await run("webhook", "replay", webhookId, "--failed", ...REASON)).toMatchObject({
    ...{ code: 0, out: "1 deliveries follow.\n" },
  });
  await eventually(async () =>
    expect(await listed("deliveries", webhookId, "--status", "DELIVERED")).toHaveLength(2),
  );
  expect(await run("webhook", "replay", webhookId, "--after", "0", "--up-to", "1", ...REASON)).toMatchObject({
    code: 0,
  });
  await eventually(async () =>
    expect(await listed("deliveries", webhookId, "--status", "DELIVERED")).toHaveLength(3),
  );
  expect(await listOperatorActions(world.db, { limit: 10 })).toMatchObject([
    { method: `${SERVICE}/ReplayDeliveries`, orgId, subject: webhookId },
    { method: `${SERVICE}/ReplayDeliveries`, details: '{"deliveries":1}' },
    { method: `${SERVICE}/EnableWebhook`, operator: "tester", reason: "test" },
    { method: `${SERVICE}/DisableWebhook`, operator: "tester", reason: "test" },
  ]);
  const { out } = await run("webhook", "deliveries", webhookId);
  expect(out).toMatch(/^deliveryId +eventId +eventType .* statusCode +durationMs +error\n/);
  expect(await listed("list", "--troubled")).toEqual([]);
});

test("consumer list shows how far each feed was read, with the dead letters", async () => {
  await world.db.run(sql`
    insert into feed_cursors (consumer_group, topic, partition, number, moved_at) values
      ('events.chain', 'wonrail.relayer.v1', 0, 0, '-infinity'),
      ('events.journal', 'wonrail.ledger.v1', 0, 7, now()), ('events.journal', 'wonrail.ledger.v1', 1, 5, '-infinity')`);
  await world.db.run(sql`
    insert into dead_letters (consumer_group, topic, partition, message_key, event_type, headers, payload, error, digest)
    values ('events.journal', 'wonrail.ledger.v1', 0, 'key', 'journal_posted', '{}', '', 'unreadable', 'digest')`);
  const { code, out } = await run("consumer", "list", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual([
    { group: "events.chain", topic: "wonrail.relayer.v1", partitions: 1, events: 0, deadLetters: 0 },
    {
      ...{ group: "events.journal", topic: "wonrail.ledger.v1", partitions: 2, events: 12 },
      ...{ movedAt: expect.any(String), deadLetters: 1 },
    },
  ]);
});

test.each([
  [["disable", "whk_0", ...REASON], 1, "The webhook does not exist. Check the id."],
  [["replay", "whk_0", ...REASON], 1, "State which: --failed, or --after and --up-to."],
  [["replay", "whk_0", "--failed", "--after", "1", ...REASON], 1, "State which"],
  [["deliveries", "whk_0", "--status", "LOST"], 2, "Allowed choices are PENDING, DELIVERED, FAILED"],
  [["list", "--org", "FIRST"], 2, "It must be an organisation's id"],
])("webhook %j exits with %d", async (args, code, reason) => {
  expect(await run("webhook", ...args)).toEqual({ code, out: "", err: expect.stringContaining(reason) });
});
