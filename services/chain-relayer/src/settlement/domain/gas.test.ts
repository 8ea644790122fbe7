import { gasLimitFor, usualGasFor } from "./gas";

/** Three quarters of a block of 30 M gas, but no more than EIP-7825 allows. */
const MOST_GAS = 1n << 24n;

test("gas grows with the steps and includes the contract's reserve", () => {
  expect(gasLimitFor([1])).toBe(60_000n + 190_000n + 300_000n);
  expect(gasLimitFor([1, 3])).toBe(60_000n + 760_000n + 600_000n);
});

test("the gas limit of a retry exceeds the usual gas", () => {
  for (const isHold of [true, false])
    for (const steps of [0, 1, 3]) {
      const operations = Array.from({ length: 100 }, () => ({ steps, isHold }));
      expect(gasLimitFor(operations.map((one) => one.steps))).toBeGreaterThan(usualGasFor(operations));
    }
});

test("two hundred first transfers between new wallets fit into one transaction", () => {
  const gasLimit = usualGasFor(Array.from({ length: 200 }, () => ({ steps: 1, isHold: false })));
  expect(gasLimit).toBeGreaterThan(200n * 66_000n);
  expect(gasLimit).toBeLessThan(MOST_GAS);
});

test("the gas suffices to report two hundred operations whose steps others have executed", () => {
  // Measured on a real node: 1,390,255 gas for all of them, and the contract requires 150,000
  // before the last one.
  const gasTaken = 1_390_255n + 150_000n;
  const operations = Array.from({ length: 200 }, () => ({ steps: 0, isHold: false }));
  expect(usualGasFor(operations)).toBeGreaterThan(gasTaken);
  expect(gasLimitFor(operations.map(({ steps }) => steps))).toBeGreaterThan(gasTaken);
});
