import { type Webhook, webhookChange } from "./webhook";

const webhook: Webhook = {
  ...{ orgId: "org_1", webhookId: "whk_1", url: "https://example.com/", eventTypes: ["charge.created"] },
  ...{ description: "till", status: "ENABLED", disabledReason: null, ordering: "OBJECT" },
  ...{ afterSequence: 4n, failingSince: null, createdAt: new Date(0), updatedAt: new Date(1_000) },
};

test("a webhook's event has the webhook as a read of it answers", () => {
  const change = webhookChange(webhook, "webhook.failing", "evt_1");
  expect(change).toMatchObject({
    orgId: "org_1",
    objectId: "whk_1",
    sourceId: "evt_1",
    types: ["webhook.failing"],
  });
  const { orgId: _org, afterSequence: _sequence, ...shown } = webhook;
  expect(change.apply(undefined)).toEqual({
    data: { ...shown, createdAt: "1970-01-01T00:00:00.000Z", updatedAt: "1970-01-01T00:00:01.000Z" },
    failureReason: null,
  });
});

test("a failing webhook says since when", () => {
  const failing = { ...webhook, failingSince: new Date(2_000) };
  expect(webhookChange(failing, "webhook.failing", "evt_1").apply(undefined)!.data).toMatchObject({
    failingSince: "1970-01-01T00:00:02.000Z",
  });
});
