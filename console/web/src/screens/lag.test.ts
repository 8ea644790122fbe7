import { readingsOf } from "./lag";

type State = Parameters<typeof readingsOf>[0][number]["state"];

const state = (change: Partial<State>): State => ({
  service: "ledger",
  version: "0.1.0",
  commit: "unknown",
  nodeVersion: "v20.19.0",
  schema: [],
  reading: [],
  ...change,
});
const feed = { topic: "wonrail.ledger", events: "120", published: "118", unnumbered: 0 };
const reading = (topic: string, events: string) => ({
  consumerGroup: "payment",
  topic,
  partitions: 8,
  events,
  deadLetters: 0,
});

test("a group lags by the owner's events minus its own", () => {
  const payment = state({ reading: [reading("wonrail.ledger", "100")] });
  const readings = readingsOf([
    { service: "payment", state: payment },
    { service: "ledger", state: state({ feed }) },
  ]);
  expect(readings).toMatchObject([{ service: "payment", topic: "wonrail.ledger", lag: 20 }]);
});

test("a group that was counted after its owner does not lag", () => {
  const both = state({ feed, reading: [reading("wonrail.ledger", "121")] });
  expect(readingsOf([{ service: "ledger", state: both }])[0]?.lag).toBe(0);
});

test("the lag is absent when the owner did not answer", () => {
  const payment = state({ reading: [reading("wonrail.auth", "1")] });
  expect(readingsOf([{ service: "payment", state: payment }])[0]).not.toHaveProperty("lag");
});
