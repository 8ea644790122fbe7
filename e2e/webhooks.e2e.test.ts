import { randomUUID } from "node:crypto";
import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { Webhook as NpmWebhook } from "standardwebhooks";
import { crashAt } from "./money/crashPoints";
import { startReceiver } from "./money/receiver";
import { type Api, type Json } from "./support/api";
import { asAdmin } from "./support/asAdmin";
import { newOrganisation } from "./support/operators";
import { reportSkipped } from "./support/reportSkipped";
import { startStack, type TestStack } from "./support/startStack";
import { findPythonVerifier } from "./webhooks/pythonVerifier";

// Deliveries of a running stack: verified by libraries of others, and complete when the service dies at any step.

jest.setTimeout(300_000);

/** The steps of an event: stored, made a delivery, claimed, posted, and written as delivered. */
const CRASH_POINTS = [
  "events.publishing",
  "events.fanned_out",
  "events.dispatching",
  "events.delivered",
  "events.saved",
];
const PARTS = 3;

const python = findPythonVerifier();
if (typeof python === "string") reportSkipped(`no delivery is verified by Python's library, ${python}`);
const withPython = typeof python === "string" ? test.skip : test;

let stack: TestStack;
let api: Api;

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
  ({ api } = await newOrganisation(stack.stack()));
});
afterAll(async () => {
  await stack?.stop();
});

type Verify = (secret: string, headers: Record<string, string>, body: string) => unknown;

test("npm's standardwebhooks verifies deliveries, during a rotation with both secrets", async () => {
  await verifiesDeliveries((secret, headers, body) => new NpmWebhook(secret).verify(body, headers));
});

withPython("PyPI's standardwebhooks verifies deliveries, during a rotation with both secrets", async () => {
  if (typeof python !== "string") await verifiesDeliveries(python);
});

async function verifiesDeliveries(verify: Verify): Promise<void> {
  const receiver = await startReceiver();
  try {
    const { webhookId, secret } = await api.post("/api/webhooks", { url: receiver.url });
    const [walletId] = await makeEvents();
    const first = await receiver.until(({ body }) => body.includes(walletId!));
    const event: Json = JSON.parse(first.body);
    expect(verify(secret, first.headers, first.body)).toEqual(event);
    expect(() => verify(secret, first.headers, `${first.body} `)).toThrow();
    const rotated = await api.post(`/api/webhooks/${webhookId}/rotate-secret`, { overlapSeconds: 600 });
    const [laterId] = await makeEvents();
    const later = await receiver.until(({ body }) => body.includes(laterId!));
    for (const each of [secret, rotated.secret])
      expect(verify(each, later.headers, later.body)).toEqual(JSON.parse(later.body));
    await api.call("DELETE", `/api/webhooks/${webhookId}`);
  } finally {
    await receiver.close();
  }
}

test.each(CRASH_POINTS)(
  "SIGKILL of events at %s: each event arrives, and those of an object in order",
  async (point) => {
    const one = await newOrganisation(stack.stack());
    const receiver = await startReceiver();
    const arrivals = () => receiver.deliveries.map(({ body }): Json => JSON.parse(body));
    const idsOf = (events: Json[]) => [...new Set(events.map(({ eventId }) => eventId as string))].sort();
    try {
      await one.api.post("/api/webhooks", { url: receiver.url, ordering: "object", after: "0" });
      const ids = await crashAt(stack, ["events", point], () => makeEvents(one.api));
      // The next replica takes over when the lease ends. Its own leases are younger than a second.
      await asAdmin(stack.stack(), "events", (db) =>
        db.run(sql`
          update deliveries set waits_until = now()
          where status = 'PENDING' and waits_until < now() + interval '59 seconds'`),
      );
      await eventually(
        async () => {
          const { items } = await one.api.get("/api/events?limit=100");
          expect(items.map(({ objectId }: Json) => objectId)).toEqual(expect.arrayContaining(ids));
          expect(idsOf(arrivals())).toEqual(idsOf(items));
        },
        { timeoutMs: 60_000 },
      );
      for (const id of ids) {
        const order = arrivals()
          .filter(({ objectId }) => objectId === id)
          .map(({ objectSequence }) => objectSequence);
        expect(order).toEqual([...order].sort((before, after) => before - after));
      }
    } finally {
      await receiver.close();
    }
  },
);

/** A wallet with two charges that are cancelled in parts. Returns the ids of the objects that have events. */
async function makeEvents(of: Api = api): Promise<string[]> {
  const { walletId } = await of.post("/api/wallets", { userId: randomUUID(), walletType: "NORMAL" });
  const ids: string[] = [walletId];
  for (let made = 0; made < 2; made += 1) {
    const { chargeId } = await of.post("/api/wallets/charge", { walletId, amount: 10_000 });
    for (let part = 0; part < PARTS; part += 1)
      await of.post("/api/wallets/charge/cancel", { chargeId, amount: 1_000 });
    ids.push(chargeId);
  }
  return ids;
}
