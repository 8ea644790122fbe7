import { lagAt } from "./projectionLag";

const buckets = (...counts: number[]) =>
  new Map([0.1, 0.5, 1, Infinity].map((bound, index) => [bound, counts[index]!]));

test("the lag at a share is the bound of its bucket, of the batches between two readings only", () => {
  const before = buckets(0, 0, 0, 50);
  expect(lagAt(0.99, before, buckets(100, 100, 100, 150))).toBe(0.1);
  expect(lagAt(0.99, before, buckets(97, 98, 100, 150))).toBe(1);
  expect(lagAt(0.99, before, buckets(97, 98, 98, 150))).toBe(Infinity);
});

test("a lag of no batch is an error", () => {
  expect(() => lagAt(0.99, buckets(1, 1, 1, 1), buckets(1, 1, 1, 1))).toThrow("no batch");
});
