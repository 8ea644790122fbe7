import fc from "fast-check";
import type { BusMessage } from "../port";
import { keyHash } from "./keyHash";
import { type MessageRow, type ReadRow, rowsOf, type TopicForm, unpack } from "./packing";

const message: fc.Arbitrary<BusMessage> = fc.record({
  topic: fc.constantFrom("packed", "single"),
  key: fc.string({ unit: "binary", maxLength: 5 }),
  value: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  headers: fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ unit: "grapheme", maxLength: 5 }), {
    noNullPrototype: true,
  }),
});
const forms = new Map<string, TopicForm>([
  ["packed", { partitions: 2, packed: true }],
  ["single", { partitions: 3, packed: false }],
]);

/** As the table has it, where this is all that a partition has. */
function readBack(row: MessageRow): ReadRow {
  const { messages, before, key, value, headers } = row;
  const parsed = JSON.parse(headers) as Record<string, string>;
  return {
    messages,
    position: BigInt(before),
    key,
    value: Buffer.from(value),
    headers: parsed,
    stored_at: new Date(0),
  };
}

test("what is packed comes back as it was, from any message on, and each partition's in its order", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 250 }), fc.nat(120), (messages, from) => {
      const rows = rowsOf(messages, forms);
      for (const [topic, { partitions }] of forms) {
        for (let partition = 0; partition < partitions; partition += 1) {
          const given = messages.filter(
            (one) => one.topic === topic && keyHash(one.key) % partitions === partition,
          );
          const read = rows
            .filter((row) => row.topic === topic && row.partition === partition)
            .filter(({ before, messages: count }) => before + count > from)
            .flatMap((row) => unpack(readBack(row), BigInt(from)));
          expect(read.map(({ key, value, headers }) => ({ topic, key, value, headers }))).toEqual(
            given.slice(from),
          );
          expect(read.map(({ position }) => Number(position))).toEqual(
            given.slice(from).map((_, index) => from + index),
          );
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("a row has twenty-five messages at most, and one of a topic that is not packed", () => {
  const many = (topic: string) =>
    Array.from({ length: 60 }, (): BusMessage => ({ topic, key: "k", value: Buffer.of(1), headers: {} }));
  expect(rowsOf(many("packed"), forms).map(({ before, messages }) => [before, messages])).toEqual([
    [0, 25],
    [25, 25],
    [50, 10],
  ]);
  expect(new Set(rowsOf(many("single"), forms).map(({ messages }) => messages))).toEqual(new Set([1]));
});

test("a topic that nobody knows has a partition that there is not", () => {
  expect(rowsOf([{ topic: "nowhere", key: "k", value: Buffer.of(1), headers: {} }], forms)).toMatchObject([
    { topic: "nowhere", partition: 0, before: 0, messages: 1, key: "k" },
  ]);
});
