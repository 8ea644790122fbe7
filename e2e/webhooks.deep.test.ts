import { sql } from "@wonrail/kit/db";
import { eventually } from "@wonrail/kit/testing";
import { crashAt } from "./money/crashPoints";
import { startReceiver } from "./money/receiver";
import { type Json } from "./support/api";
import { asAdmin } from "./support/asAdmin";
import { newOrganisation } from "./support/operators";
import { startStack, type TestStack } from "./support/startStack";
import { makeEvents } from "./webhooks/makeEvents";

// Deliveries are complete when the service dies at any step. The service's own crashes.int tests do
// the same without a stack.

jest.setTimeout(300_000);

/** The steps of an event: stored, made a delivery, claimed, posted, and written as delivered. */
const CRASH_POINTS = [
  "events.publishing",
  "events.fanned_out",
  "events.dispatching",
  "events.delivered",
  "events.saved",
];

let stack: TestStack;

beforeAll(async () => {
  stack = await startStack({ bus: "feed" });
});
afterAll(async () => {
  await stack?.stop();
});

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
