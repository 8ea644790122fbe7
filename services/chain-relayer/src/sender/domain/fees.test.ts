import fc from "fast-check";
import { firstFees, gasRoom, isEnough, mostGas, noopGas, replacementFees, withinCost } from "./fees";

const GWEI = 1_000_000_000n;

test("the first offer allows a doubled base fee, and leaves room for a bump under the cap", () => {
  const of = (baseFeeWei: bigint) => firstFees({ baseFeeWei, tipWei: GWEI, capWei: 100n * GWEI });
  expect(of(10n * GWEI)).toEqual({ maxFeeWei: 21n * GWEI, priorityFeeWei: GWEI });
  expect(of(60n * GWEI)?.maxFeeWei).toBe(70n * GWEI);
  expect(of(80n * GWEI)?.maxFeeWei).toBe(81n * GWEI);
  expect(of(99n * GWEI)?.maxFeeWei).toBe(100n * GWEI);
});

test("offers a tip of 1 wei where the market needs none", () => {
  const market = { baseFeeWei: GWEI, tipWei: 0n, capWei: 100n * GWEI };
  expect(firstFees(market)).toEqual({ maxFeeWei: 2n * GWEI + 1n, priorityFeeWei: 1n });
});

test("a replacement may offer the whole cap, and never more", () => {
  const next = (capWei: bigint) =>
    replacementFees({ maxFeeWei: 80n, priorityFeeWei: 8n }, { baseFeeWei: 1n, tipWei: 1n, capWei });
  expect([next(91n), next(90n)]).toEqual([{ maxFeeWei: 91n, priorityFeeWei: 10n }, null]);
});

test("waits while the next block costs more than the cap", () => {
  const market = { baseFeeWei: 100n * GWEI, tipWei: 1n, capWei: 100n * GWEI };
  expect(firstFees(market)).toBeNull();
  expect(replacementFees({ maxFeeWei: 50n * GWEI, priorityFeeWei: 1n }, market)).toBeNull();
});

test("a replacement offers a tenth more in both fees and at least the market's tip, within the cap", () => {
  const fee = fc.bigInt({ min: 1n, max: 1000n * GWEI });
  fc.assert(
    fc.property(fee, fee, fee, fee, fee, (room, priorityFeeWei, baseFeeWei, tipWei, capWei) => {
      const maxFeeWei = priorityFeeWei + room;
      const next = replacementFees({ maxFeeWei, priorityFeeWei }, { baseFeeWei, tipWei, capWei });
      if (next === null) return;
      expect(
        next.maxFeeWei * 10n >= maxFeeWei * 11n && next.priorityFeeWei * 10n >= priorityFeeWei * 11n,
      ).toBe(true);
      expect(next.priorityFeeWei >= tipWei && next.maxFeeWei >= baseFeeWei + next.priorityFeeWei).toBe(true);
      expect(next.maxFeeWei <= capWei).toBe(true);
    }),
  );
});

test("an offer up to seven tenths of the cap can be bumped twice, wherever the base fee falls", () => {
  const cap = fc.bigInt({ min: GWEI, max: 1000n * GWEI });
  const thousandth = fc.bigInt({ min: 0n, max: 700n });
  fc.assert(
    fc.property(cap, thousandth, thousandth, thousandth, (capWei, market, ofTip, fallen) => {
      const tipWei = (capWei * market * ofTip) / 700_000n;
      const baseFeeWei = (capWei * market) / 1000n - tipWei;
      const later = { baseFeeWei: (baseFeeWei * fallen) / 700n, tipWei, capWei };
      const first = firstFees({ baseFeeWei, tipWei, capWei })!;
      const second = replacementFees(first, later)!;
      expect(replacementFees(second, later)).not.toBeNull();
    }),
  );
});

test("a replacement may cost one ether in all, and a single operation up to the cap", () => {
  const fee = fc.bigInt({ min: GWEI, max: 1000n * GWEI });
  const blockGasLimit = fc.bigInt({ min: 30_000_000n, max: 100_000_000n });
  fc.assert(
    fc.property(fee, fee, fee, blockGasLimit, (baseFeeWei, laterFeeWei, capWei, blockGas) => {
      const first = firstFees({ baseFeeWei, tipWei: 1n, capWei });
      if (first === null) return;
      const gasLimit = gasRoom(blockGas, first);
      const later = withinCost({ baseFeeWei: laterFeeWei, tipWei: 1n, capWei }, gasLimit);
      expect(first.maxFeeWei).toBeLessThanOrEqual(later.capWei);
      const next = replacementFees(first, later);
      if (next && gasLimit > 1_000_000n) expect(next.maxFeeWei * gasLimit).toBeLessThanOrEqual(10n ** 18n);
    }),
  );
  const market = { baseFeeWei: GWEI, tipWei: GWEI, capWei: 3000n * GWEI };
  expect(withinCost(market, 1_000_000n).capWei).toBe(3000n * GWEI);
  expect(withinCost(market, 10_000_000n).capWei).toBe(100n * GWEI);
});

test("an offer suffices when it covers the base fee and the market's tip", () => {
  const market = { baseFeeWei: 10n, tipWei: 2n, capWei: 100n };
  const isEnoughAt = (maxFeeWei: bigint, priorityFeeWei: bigint) =>
    isEnough({ maxFeeWei, priorityFeeWei }, market);
  expect([isEnoughAt(11n, 2n), isEnoughAt(12n, 2n)]).toEqual([false, true]);
  // The block's producer gets at most the tip, whatever the total offer.
  expect([isEnoughAt(90n, 1n), isEnoughAt(90n, 2n)]).toEqual([false, true]);
});

test("a transaction asks for at most three quarters of a block and at most 2^24 gas", () => {
  expect(mostGas(12_000_000n)).toBe(9_000_000n);
  expect(mostGas(30_000_000n)).toBe(1n << 24n);
});

test("a no-op requests a quarter more gas than the estimate, within bounds", () => {
  expect([0n, 21_000n, 100_000n, 10n ** 9n].map(noopGas)).toEqual([
    ...[21_000n, 21_000n],
    ...[125_000n, 1_000_000n],
  ]);
});
