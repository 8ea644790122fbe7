import { largest, smallest } from "@wonrail/kit/contract/bigints";

const BASE_GAS = 60_000n;
/**
 * A wallet's first transfer and one to a new receiver write a fresh word each: about 66,000
 * together.
 */
const USUAL_GAS_PER_STEP = 70_000n;
const GAS_PER_HOLD = 95_000n;
/** PaymentManager requires this before each operation: for each of its steps and once more. */
const RESERVE_PER_STEP = 150_000n;
/** Nodes take a transaction of so much gas at every price below the cap. */
const GAS_AT_ANY_PRICE = 1_000_000n;

/**
 * The limit after the usual one was too little: twice the most expensive step of the gas snapshot.
 */
export function gasLimitFor(stepsPerOperation: number[]): bigint {
  const steps = BigInt(stepsPerOperation.reduce((sum, count) => sum + atLeastOne(count), 0));
  return BASE_GAS + steps * 2n * GAS_PER_HOLD + reserveFor(stepsPerOperation);
}

/**
 * Gas of a batch by the contracts' gas snapshot, with a margin. A node's estimate would execute the
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

/** Gas limit of a transaction after nodes refused another one's cost. */
export function cheapGas(room: bigint, leastGas: bigint): bigint {
  return smallest(room, largest(leastGas, GAS_AT_ANY_PRICE));
}

/** Gas limit of a transaction after its operations reverted so many times. */
export function halvedGas(room: bigint, leastGas: bigint, times: number): bigint {
  return smallest(room, largest(room >> BigInt(times), leastGas));
}

/** An operation without remaining steps still needs gas for its look-up and event. */
function atLeastOne(steps: number): number {
  return Math.max(steps, 1);
}

function reserveFor(stepsPerOperation: number[]): bigint {
  return (BigInt(Math.max(0, ...stepsPerOperation)) + 1n) * RESERVE_PER_STEP;
}
