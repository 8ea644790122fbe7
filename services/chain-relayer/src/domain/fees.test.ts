import fc from "fast-check";
import { firstFees, gasLimitFor, replacementFees } from "./fees";

const GWEI = 1_000_000_000n;

test("the first offer leaves room for the base fee to double, under the cap", () => {
  expect(firstFees({ baseFeeWei: 10n * GWEI, tipWei: GWEI, capWei: 100n * GWEI })).toEqual({
    maxFeeWei: 21n * GWEI,
    priorityFeeWei: GWEI,
  });
  expect(firstFees({ baseFeeWei: 60n * GWEI, tipWei: GWEI, capWei: 100n * GWEI })?.maxFeeWei).toBe(
    100n * GWEI,
  );
});

test("waits while even the next block is dearer than the cap", () => {
  expect(firstFees({ baseFeeWei: 100n * GWEI, tipWei: 1n, capWei: 100n * GWEI })).toBeNull();
});

test("a replacement always offers at least a tenth more in both fees, and never more than the cap", () => {
  const fee = fc.bigInt({ min: 1n, max: 1000n * GWEI });
  fc.assert(
    fc.property(fee, fee, fee, fee, (maxFeeWei, priorityFeeWei, baseFeeWei, capWei) => {
      const next = replacementFees({ maxFeeWei, priorityFeeWei }, { baseFeeWei, capWei });
      if (next === null) return;
      expect(
        next.maxFeeWei * 10n >= maxFeeWei * 11n && next.priorityFeeWei * 10n >= priorityFeeWei * 11n,
      ).toBe(true);
      expect(next.maxFeeWei <= capWei).toBe(true);
    }),
  );
});

test("gas grows with the steps and holds the contract's reserve", () => {
  expect(gasLimitFor([1])).toBe(60_000n + 90_000n + 300_000n);
  expect(gasLimitFor([1, 3])).toBe(60_000n + 360_000n + 600_000n);
});
