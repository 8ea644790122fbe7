import { type Delivery } from "../../history";
import { type PublicEvent } from "../api";
import { simulateRun } from "../testing/simulateRun";
import { checkDeliveries, type WebhookFacts } from "./checkDeliveries";
import { checkEvents } from "./checkEvents";

/** The events of a correct run's journal. */
async function eventsOfRun() {
  const { journal } = await simulateRun(1, 100);
  const numbers = new Map<string, number>();
  const events: PublicEvent[] = [];
  const add = (type: string, objectId: string): void => {
    const objectSequence = (numbers.get(objectId) ?? 0) + 1;
    numbers.set(objectId, objectSequence);
    const sequence = events.length + 1;
    events.push({
      eventId: `evt_${sequence}`,
      type,
      sequence,
      objectId,
      objectSequence,
      createdAt: "",
      data: {},
    });
  };
  const types = {
    ...{ charge: "charge.created", refund: "refund.created", placeHold: "transfer.created" },
    ...{ payment: "payment.created", creditExternal: "deposit.credited" },
  } as Record<string, string>;
  const later = {
    ...{ cancelCharge: ["charge.cancelled", "chg"], cancelPayment: ["payment.cancelled", "pay"] },
    ...{ refundPayment: ["payment.refunded", "pay"], postHold: ["transfer.completed", "trf"] },
    ...{ voidHold: ["transfer.failed", "trf"] },
  } as Record<string, [string, string]>;
  for (const { id, kind, originalDigits } of journal.entries) {
    if (kind === "transfer") for (const end of ["created", "completed"]) add(`transfer.${end}`, id);
    else if (types[kind]) add(types[kind], id);
    else add(later[kind]![0], `${later[kind]![1]}_${originalDigits}`);
  }
  return { journal, events };
}

test("the events of a correct run pass", async () => {
  const { journal, events } = await eventsOfRun();
  expect(checkEvents(journal, events, [])).toEqual([]);
});

test.each<[string, (events: PublicEvent[]) => unknown, string]>([
  ["a missing event", (events) => events.splice(5, 1), "0 events"],
  ["an event without an entry", (events) => (events[3]!.objectId = "chg_other"), "and 0 entries"],
  ["an event twice", (events) => events.push(events[2]!), "listed twice"],
  ["a gap in an object's order", (events) => (events[4]!.objectSequence += 1), "is number"],
  ["a gap in the organisation's order", (events) => (events.at(-1)!.sequence += 1), "has the sequence"],
])("%s is found", async (_, plant, message) => {
  const { journal, events } = await eventsOfRun();
  plant(events);
  const found = checkEvents(journal, events, []).map((violation) => violation.message);
  expect(found.join("\n")).toContain(message);
});

const WEBHOOK: WebhookFacts = {
  ...{ organisation: "ORG", webhookId: "whk_1", eventTypes: [], ordering: "OBJECT" },
  sinceSequence: 1,
};

async function deliveriesOfRun() {
  const { events } = await eventsOfRun();
  const deliveries = events.map((event, at): Delivery => ({
    ...{ kind: "delivery", at, organisation: "ORG", webhookId: "whk_1" },
    ...{ eventId: event.eventId, body: { ...event } },
  }));
  return { events, deliveries };
}

test("deliveries once or more and in each object's order pass", async () => {
  const { events, deliveries } = await deliveriesOfRun();
  const again = deliveries.map((delivery) => ({ ...delivery, at: delivery.at + 500 }));
  expect(checkDeliveries(WEBHOOK, events, [...again, ...deliveries])).toEqual([]);
});

test("an event that never arrived is found, but not one before the webhook's first", async () => {
  const { events, deliveries } = await deliveriesOfRun();
  const later = { ...WEBHOOK, sinceSequence: null };
  expect(checkDeliveries(later, events, deliveries.slice(1))).toEqual([]);
  deliveries.splice(7, 1);
  expect(checkDeliveries(later, events, deliveries)).toHaveLength(1);
  expect(checkDeliveries(WEBHOOK, events, deliveries)).toEqual([
    expect.objectContaining({ message: expect.stringContaining("never arrived") }),
  ]);
});

test.each<
  [string, Partial<WebhookFacts>, (deliveries: Delivery[], events: PublicEvent[]) => unknown, string]
>([
  ["events of no wanted type", { eventTypes: ["charge.created"] }, () => {}, "arrived unasked"],
  ["an unknown event", {}, (deliveries) => (deliveries[0]!.eventId = "evt_other"), "is no event of"],
  [
    "another body",
    {},
    ([first]) => Object.assign(first!.body as object, { objectId: "x" }),
    "with another objectId",
  ],
  [
    "an object's events in another order",
    {},
    (deliveries, events) => {
      const second = events.findIndex(({ objectSequence }) => objectSequence === 2);
      deliveries[second]!.at = -1;
    },
    "arrived after the later",
  ],
])("%s is found", async (_, webhook, plant, message) => {
  const { events, deliveries } = await deliveriesOfRun();
  plant(deliveries, events);
  const found = checkDeliveries({ ...WEBHOOK, ...webhook }, events, deliveries);
  expect(found.map((violation) => violation.message).join("\n")).toContain(message);
});
