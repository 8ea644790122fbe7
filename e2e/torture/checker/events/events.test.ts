import { type Delivery } from "../../history";
import { type PublicEvent } from "../api";
import { simulateRun } from "../testing/simulateRun";
import { checkDeliveries, type WebhookFacts } from "./checkDeliveries";
import { checkEvents, type EventFacts } from "./checkEvents";

const CANCELLATION = "ccl_1";
const RECORD = "rec_1";

/** A correct run: its journal, the ends of two settlements and of a record, and all its events. */
async function eventsOfRun() {
  const { journal: all } = await simulateRun(1, 100);
  const cancelled = all.entries.findIndex(({ kind }) => kind === "cancelCharge");
  const journal = {
    ...all,
    entries: all.entries.map((entry, at) => (at === cancelled ? { ...entry, id: CANCELLATION } : entry)),
  };
  const { id: charge } = journal.entries.find(({ kind }) => kind === "charge")!;
  const settlements = [
    { ledgerRef: CANCELLATION, state: "CONFIRMED" },
    { ledgerRef: charge, state: "FAILED" },
    { ledgerRef: "wal_1", state: "PASSED" },
  ];
  const numbers = new Map<string, number>();
  const events: PublicEvent[] = [];
  const add = (type: string, objectId: string, data: object = {}): void => {
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
      data,
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
  add("settlement.failed", charge);
  add("settlement.confirmed", `chg_${journal.entries[cancelled]!.originalDigits}`);
  for (const status of ["FAILED", "CONFIRMED"]) add("transaction.status_changed", RECORD, { status });
  return { journal, settlements, events };
}

function check({
  events,
  ...facts
}: Pick<EventFacts, "journal" | "settlements"> & { events: PublicEvent[] }) {
  const records = [
    { id: RECORD, status: "CONFIRMED" },
    { id: "rec_2", status: "PENDING" },
  ];
  return checkEvents({ ...facts, reads: { events, lists: { "/api/transaction": records } }, operations: [] });
}

test("the events of a correct run pass", async () => {
  expect(check(await eventsOfRun())).toEqual([]);
});

test.each<[string, (events: PublicEvent[]) => unknown, string]>([
  ["a missing event", (events) => events.splice(5, 1), "0 events"],
  ["an event without an entry", (events) => (events[3]!.objectId = "chg_other"), "and 0 entries"],
  ["an event twice", (events) => events.push(events[2]!), "listed twice"],
  ["a gap in an object's order", (events) => (events[4]!.objectSequence += 1), "is number"],
  ["a settlement without an event", (events) => events.splice(-3, 1), "and 1 settlements"],
  ["a failure without an event", (events) => events.splice(-4, 1), "0 events settlement.failed"],
  ["an end of a record without an event", (events) => events.pop(), "rec_1 is CONFIRMED, and its last"],
  ["a gap in the organisation's order", (events) => (events.at(-1)!.sequence += 1), "has the sequence"],
])("%s is found", async (_, plant, message) => {
  const run = await eventsOfRun();
  plant(run.events);
  const found = check(run).map((violation) => violation.message);
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
