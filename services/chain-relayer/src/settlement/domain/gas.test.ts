import { cheapGas, gasLimitFor, halvedGas, usualGasFor } from "./gas";

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

test("usual gas counts a hold as dearer than another step, and an operation without steps as one", () => {
  expect(usualGasFor([{ steps: 2, isHold: false }])).toBe(60_000n + 140_000n + 450_000n);
  expect(usualGasFor([{ steps: 1, isHold: true }])).toBe(60_000n + 95_000n + 300_000n);
  expect(usualGasFor([{ steps: 0, isHold: false }])).toBe(60_000n + 70_000n + 150_000n);
});

test("a refused cost lowers the gas to a million, or to what the operations need", () => {
  expect(cheapGas(9_000_000n, 21_000n)).toBe(1_000_000n);
  expect(cheapGas(9_000_000n, 2_000_000n)).toBe(2_000_000n);
  expect(cheapGas(900_000n, 2_000_000n)).toBe(900_000n);
});

test("each revert halves the gas, down to what the operations need", () => {
  expect(halvedGas(8_000_000n, 21_000n, 0)).toBe(8_000_000n);
  expect(halvedGas(8_000_000n, 21_000n, 2)).toBe(2_000_000n);
  expect(halvedGas(8_000_000n, 3_000_000n, 2)).toBe(3_000_000n);
  expect(halvedGas(8_000_000n, 9_000_000n, 2)).toBe(8_000_000n);
});
