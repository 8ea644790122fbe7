import { entryEvents, parseRow, publicEvents, settlementEvents, signingEvents } from "./operationTimeline";

const operation = (columns: object) => ({
  operationJson: JSON.stringify({
    kind: "INTENT_KIND_PAYMENT",
    created_at: "2026-11-27T10:00:00Z",
    changed_at: "2026-11-27T10:00:09Z",
    attempts: 1,
    ...columns,
  }),
  earlierJson: [],
  authorizationsJson: [],
  endings: [],
  transactionsJson: [
    JSON.stringify({
      nonce: "7",
      tx_hash: "0xab",
      max_fee_wei: "1000000000",
      sends: 1,
      state: "MINED",
      created_at: "2026-11-27T10:00:01Z",
    }),
  ],
});
const summary = (events: { title: string; tone?: string | undefined }[]) =>
  events.map(({ title, tone }) => [title, tone]);

test("a settled operation is followed from its queue over its transaction to its block", () => {
  const events = settlementEvents(operation({ state: "CONFIRMED", block_number: "42", tx_hash: "0xab" }));
  expect(summary(events)).toEqual([
    ["Queued for settlement: payment", undefined],
    ["Transaction made with nonce 7", undefined],
    ["Final in block 42", "good"],
  ]);
});

test.each([
  ["BLOCKED", "BLOCKED: an operator must end it", "bad"],
  ["FAILED", "Failed for good", "bad"],
  ["WAITING", "waiting after 1 attempt", "waits"],
  ["PASSED", "Needs no work on the chain", "good"],
])("an operation in the state %s ends with its state", (state, title, tone) => {
  expect(settlementEvents(operation({ state })).at(-1)).toMatchObject({ title, tone });
});

test("the reason of a BLOCKED operation is shown", () => {
  const events = settlementEvents(operation({ state: "BLOCKED", wait_reason: "unreadable" }));
  expect(events.at(-1)?.details).toBe(
    "unreadable: the relayer cannot read the ledger's entry; an operator must end it",
  );
});

test("a refused request has its code and no entry", () => {
  const refused = {
    request: {
      requestId: "pay_1",
      cancelledWon: "0",
      cancellations: [],
      outcome: { error: { code: "PAY_001" }, replayed: false },
    },
  };
  expect(summary(entryEvents({ orgId: "org_1", holdEndings: [], ...refused }))).toEqual([
    ["Refused with PAY_001", "bad"],
  ]);
});

test("refusals of custody are in the order of time", () => {
  const refusal = (second: number) => ({
    fromWalletId: "wal_1",
    reason: `limit ${second}`,
    refusedAt: `2026-11-27T10:00:0${second}Z`,
  });
  const events = signingEvents({ signings: [], refusals: [refusal(2), refusal(1)] });
  expect(events.map(({ at }) => at)).toEqual(["2026-11-27T10:00:01Z", "2026-11-27T10:00:02Z"]);
});

test("a webhook attempt is good only with a status of 2xx", () => {
  const attempt = (number: number, statusCode?: number) => ({
    number,
    durationMs: 12,
    ...(statusCode === undefined ? {} : { statusCode }),
  });
  const delivery = {
    deliveryId: "dlv_1",
    eventId: "evt_1",
    eventType: "payment.created",
    status: "DELIVERY_STATUS_DELIVERED" as const,
    attempts: [attempt(1), attempt(2, 500), attempt(3, 204)],
  };
  const event = {
    eventId: "evt_1",
    type: "payment.created",
    sequence: "1",
    objectId: "pay_1",
    objectSequence: "1",
    dataJson: "{}",
  };
  const events = publicEvents({
    events: [{ event, deliveries: [{ webhookId: "whk_1", url: "https://bank.example", delivery }] }],
  });
  expect(events.map(({ tone }) => tone)).toEqual([undefined, "bad", "bad", "good"]);
});

test("text that is no JSON object is an empty row", () => {
  expect([parseRow("<html>"), parseRow("null"), parseRow('"x"')]).toEqual([{}, {}, {}]);
});
