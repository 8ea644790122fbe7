import fc from "fast-check";
import { InvalidRequestError } from "./errors.ts";
import { formatUnits, toUnits } from "./units.ts";

test.each([
  ["1.0", "1000000"],
  ["1", "1000000"],
  ["0.000001", "1"],
  ["0", "0"],
  ["0.0", "0"],
  ["12000", "12000000000"],
  ["007.50", "7500000"],
  ["1.0000000", "1000000"],
])("toUnits(%p) returns %p", (amount, units) => {
  expect(toUnits(amount)).toBe(units);
});

test.each([
  "",
  ".",
  "1.",
  ".5",
  "-1",
  "+1",
  "1e6",
  "1,000",
  " 1",
  "0x10",
  "1.0000001",
  "１",
  "1\n",
  "9".repeat(79),
])("toUnits refuses %p", (amount) => {
  expect(() => toUnits(amount)).toThrow(InvalidRequestError);
});

test("numbers are refused, because they may have lost digits", () => {
  expect(() => toUnits(0.1 as never)).toThrow(InvalidRequestError);
  expect(() => formatUnits(1000000 as never)).toThrow(InvalidRequestError);
});

test.each([
  ["1500000", "1.5"],
  ["1000000", "1"],
  ["1", "0.000001"],
  ["0", "0"],
])("formatUnits(%p) returns %p", (units, amount) => {
  expect(formatUnits(units)).toBe(amount);
});

test.each(["", "01", "-1", "1.5", "1 000", "abc"])("formatUnits refuses %p", (units) => {
  expect(() => formatUnits(units)).toThrow(InvalidRequestError);
});

const decimals = fc.integer({ min: 0, max: 36 });
const units = fc.bigInt({ min: 0n, max: 10n ** 78n - 1n });

test("toUnits reverses formatUnits for every amount of 78 digits and every number of decimals", () => {
  fc.assert(
    fc.property(units, decimals, (amount, places) => {
      expect(toUnits(formatUnits(amount, places), places)).toBe(amount.toString());
    }),
  );
});

test("toUnits multiplies by exactly ten to the decimals", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 40n }), decimals, (amount, places) => {
      expect(BigInt(toUnits(amount, places))).toBe(amount * 10n ** BigInt(places));
    }),
  );
});

test("larger amounts stay larger in the other unit", () => {
  fc.assert(
    fc.property(units, units, (one, other) => {
      const [low, high] = one < other ? [one, other] : [other, one];
      expect(BigInt(toUnits(formatUnits(low)))).toBeLessThanOrEqual(BigInt(toUnits(formatUnits(high))));
    }),
  );
});
