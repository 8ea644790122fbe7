import { messageOf } from "./message";

const delivered = {
  ...{ eventId: "evt_1", eventType: "charge.created", objectId: "chg_1", sequence: 7n },
  createdAt: new Date(1_000),
  event: { objectSequence: 2n, createdAt: new Date(0), dataJson: '{"amount":5}' },
};

test("a delivery has the event as a read of it answers", () => {
  expect(JSON.parse(messageOf(delivered)!)).toEqual({
    ...{ eventId: "evt_1", type: "charge.created", sequence: 7, objectId: "chg_1", objectSequence: 2 },
    ...{ createdAt: "1970-01-01T00:00:00.000Z", data: { amount: 5 } },
  });
});

test("a test delivery has the sequence 0 and the webhook's id", () => {
  const test = { ...delivered, eventType: "webhook.test", objectId: "whk_1", sequence: null, event: null };
  expect(JSON.parse(messageOf(test)!)).toEqual({
    ...{ eventId: "evt_1", type: "webhook.test", sequence: 0, objectId: "whk_1", objectSequence: 0 },
    ...{ createdAt: "1970-01-01T00:00:01.000Z", data: { webhookId: "whk_1" } },
  });
});

test("a delivery of a deleted event has no body", () => {
  expect(messageOf({ ...delivered, event: null })).toBeNull();
});
