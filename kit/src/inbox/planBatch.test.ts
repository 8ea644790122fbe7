import { planBatch, type FeedMessage, type Origin } from "./planBatch";

const message = (number: number, partition = 0): FeedMessage => ({
  topic: "wonrail.sample.v1",
  partition,
  number: BigInt(number),
  key: "a",
  headers: {},
  value: Buffer.alloc(0),
});
const KAFKA: Origin = { kind: "kafka" };
const feedAfter = (number: number): Origin => ({ kind: "feed", after: new Map([[0, BigInt(number)]]) });

/** The plan for a partition with the cursor 10, as numbers. */
function plan(numbers: number[], origin: Origin) {
  const cursors = new Map([[0, { partition: 0, number: 10n, eventId: null }]]);
  const { due, old, behindGap, pruned, moved } = planBatch(
    numbers.map((number) => message(number)),
    cursors,
    origin,
  );
  const numbersOf = (messages: FeedMessage[]) => messages.map(({ number }) => Number(number));
  const cursor = Number(moved.get(0) ?? 10n);
  return {
    due: numbersOf(due),
    old: numbersOf(old),
    behindGap: numbersOf(behindGap),
    pruned: Number(pruned),
    cursor,
  };
}

it.each<[string, number[], Origin, object]>([
  ["the next numbers", [11, 12], KAFKA, { due: [11, 12], cursor: 12 }],
  ["repeated numbers", [9, 10, 11, 11], KAFKA, { due: [11], old: [9, 10, 11], cursor: 11 }],
  ["numbers behind a gap", [11, 13, 14], KAFKA, { due: [11], behindGap: [13, 14], cursor: 11 }],
  ["a number that fills the gap late", [12, 11, 12], KAFKA, { due: [11, 12], behindGap: [12], cursor: 12 }],
  ["an answer of the feed", [11, 12], feedAfter(10), { due: [11, 12], cursor: 12 }],
  ["an answer to an earlier cursor", [9, 10, 11], feedAfter(8), { due: [11], old: [9, 10], cursor: 11 }],
  ["an answer behind pruned numbers", [15, 16], feedAfter(10), { due: [15, 16], pruned: 4, cursor: 16 }],
  ["an answer to a cursor that was set back since", [21, 22], feedAfter(20), { behindGap: [21, 22] }],
])("plans %s", (_name, numbers, origin, expected) => {
  expect(plan(numbers, origin)).toEqual({
    due: [],
    old: [],
    behindGap: [],
    pruned: 0,
    cursor: 10,
    ...expected,
  });
});

it("plans each partition by its own cursor", () => {
  const cursors = new Map([
    [0, { partition: 0, number: 1n, eventId: null }],
    [1, { partition: 1, number: 5n, eventId: null }],
  ]);
  const { due, moved } = planBatch([message(2), message(6, 1), message(3)], cursors, KAFKA);
  expect(due.map(({ partition, number }) => `${partition}/${number}`)).toEqual(["0/2", "1/6", "0/3"]);
  expect([...moved]).toEqual([
    [0, 3n],
    [1, 6n],
  ]);
});
