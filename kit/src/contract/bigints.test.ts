import fc from "fast-check";
import { largest, smallest } from "./bigints";

test("the smallest and the largest value are the ends of the sorted values", () => {
  const value = fc.bigInt({ min: -9n, max: 9n });
  fc.assert(
    fc.property(value, fc.array(value), (first, others) => {
      const sorted = [first, ...others].sort((one, other) => Number(one - other));
      expect([smallest(first, ...others), largest(first, ...others)]).toEqual([sorted[0], sorted.at(-1)]);
    }),
  );
});
