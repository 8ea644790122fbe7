const BASE_GAS = 60_000n;
/** A wallet's first transfer and one to a new receiver write a fresh word each: some 66,000 together. */
const USUAL_GAS_PER_STEP = 70_000n;
const GAS_PER_HOLD = 95_000n;
/** PaymentManager wants this left before each operation starts: for each of its steps and once more. */
const RESERVE_PER_STEP = 150_000n;
/** Nodes take a transaction of so much gas at every price below the cap. */
const GAS_AT_ANY_PRICE = 1_000_000n;

/** The limit once the usual one was too little: twice the dearest step of the gas snapshot. */
export function gasLimitFor(stepsPerOperation: number[]): bigint {
  const steps = BigInt(stepsPerOperation.reduce((sum, count) => sum + atLeastOne(count), 0));
  return BASE_GAS + steps * 2n * GAS_PER_HOLD + reserveFor(stepsPerOperation);
}

/**
 * The gas of a batch by the contracts' gas snapshot, with room. A node's estimate would execute the
 * batch some twenty times. A hold's names are random and its receiver is usually new, so it writes
 * words that other operations share.
 */
export function usualGasFor(operations: { steps: number; isHold: boolean }[]): bigint {
  const steps = operations.reduce(
    (sum, { steps, isHold }) =>
      sum + BigInt(atLeastOne(steps)) * (isHold ? GAS_PER_HOLD : USUAL_GAS_PER_STEP),
    0n,
  );
  return BASE_GAS + steps + reserveFor(operations.map((operation) => operation.steps));
}

/** The gas that a transaction may ask for after nodes refused the cost of another. */
export function cheapGas(room: bigint, leastGas: bigint): bigint {
  return smaller(room, larger(leastGas, GAS_AT_ANY_PRICE));
}

/** The gas that a transaction may ask for after its operations reverted so many times. */
export function halvedGas(room: bigint, leastGas: bigint, times: number): bigint {
  return smaller(room, larger(room >> BigInt(times), leastGas));
}

/** An operation without a step left still takes gas to be looked up and told of. */
function atLeastOne(steps: number): number {
  return Math.max(steps, 1);
}

function reserveFor(stepsPerOperation: number[]): bigint {
  return (BigInt(Math.max(0, ...stepsPerOperation)) + 1n) * RESERVE_PER_STEP;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
