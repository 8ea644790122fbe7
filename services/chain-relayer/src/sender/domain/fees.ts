/** What a transaction offers for its gas. */
export interface Fees {
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

/** What the next block takes, and how much of it we pay at most. */
export interface Market {
  baseFeeWei: bigint;
  tipWei: bigint;
  capWei: bigint;
}

/** Null while even the next block is dearer than the cap. */
export function firstFees({ baseFeeWei, tipWei, capWei }: Market): Fees | null {
  const priorityFeeWei = tipWei > 1n ? tipWei : 1n;
  const maxFeeWei = offerFor({ baseFeeWei, tipWei: priorityFeeWei, capWei });
  return maxFeeWei === null ? null : { maxFeeWei, priorityFeeWei };
}

/** Nodes take a replacement only when both fees grow by a tenth; an eighth leaves no doubt. Null when the cap forbids it. */
export function replacementFees(last: Fees, market: Market): Fees | null {
  const least = bump(last.maxFeeWei);
  const tipWei = larger(bump(last.priorityFeeWei), market.tipWei);
  const offer = offerFor({ ...market, tipWei });
  if (least > market.capWei || offer === null) return null;
  return { maxFeeWei: larger(least, offer), priorityFeeWei: tipWei };
}

/** Whether the next block takes it: what is left beside the base fee goes to whoever makes the block, and of that no more than the offer's own tip. */
export function isEnough({ maxFeeWei, priorityFeeWei }: Fees, { baseFeeWei, tipWei }: Market): boolean {
  return smaller(maxFeeWei - baseFeeWei, priorityFeeWei) >= tipWei;
}

/**
 * The base fee can double in six full blocks; twice it is room enough to be mined soon. What is signed at the cap can never be outbid, not even by
 * nothing: so whatever the market can be had for, an offer leaves room for two or three more. Null when it cannot be had.
 */
function offerFor({ baseFeeWei, tipWei, capWei }: Market): bigint | null {
  const needed = baseFeeWei + tipWei;
  if (needed > capWei) return null;
  const most = (capWei * 7n) / 10n;
  return needed <= most ? smaller(baseFeeWei * 2n + tipWei, most) : needed;
}

function bump(feeWei: bigint): bigint {
  return feeWei + feeWei / 8n + 1n;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

const BASE_GAS = 60_000n;
/** A wallet's first transfer writes a fresh word of names, and one to a new receiver a balance that was none: some 66,000 together. */
const USUAL_GAS_PER_STEP = 70_000n;
const GAS_PER_HOLD = 95_000n;
/** What PaymentManager wants to see left before each operation starts: for each of its steps and once more. */
const RESERVE_PER_STEP = 150_000n;
/** No transaction may take more than 2^24 (EIP-7825), nor more than the greater part of a block. */
const MOST_GAS = 1n << 24n;

const MOST_COST_WEI = 10n ** 18n;
const LEAST_GAS = 1_000_000n;

/** After what is usual was too little: twice what the dearest step takes by the snapshot, since chains price what is new each in their own way. */
export function gasLimitFor(stepsPerOperation: number[]): bigint {
  const steps = BigInt(stepsPerOperation.reduce((sum, count) => sum + atLeastOne(count), 0));
  return BASE_GAS + steps * 2n * GAS_PER_HOLD + reserveFor(stepsPerOperation);
}

/**
 * What a batch takes by the contracts' gas snapshot, with room. Asking a node instead means that it executes the whole batch some twenty times. A
 * hold's names are random, and its receiver is new more often than not, so it writes words that others share.
 */
export function usualGasFor(operations: { steps: number; isHold: boolean }[]): bigint {
  const steps = operations.reduce(
    (sum, { steps, isHold }) =>
      sum + BigInt(atLeastOne(steps)) * (isHold ? GAS_PER_HOLD : USUAL_GAS_PER_STEP),
    0n,
  );
  return BASE_GAS + steps + reserveFor(operations.map((operation) => operation.steps));
}

/** What one transaction may ask for: three quarters of a block, so that it finds room beside others. */
export function mostGas(blockGasLimit: bigint): bigint {
  const most = (blockGasLimit * 3n) / 4n;
  return most < MOST_GAS ? most : MOST_GAS;
}

/**
 * The same, for what it offers. Usual nodes refuse a transaction that may cost more than one ether (geth's rpc.txfeecap), and what was signed like that is
 * never mined: whatever takes its nonce has to offer more. One operation has room in any case.
 */
export function gasRoom(blockGasLimit: bigint, { maxFeeWei }: Fees): bigint {
  return smaller(mostGas(blockGasLimit), larger(MOST_COST_WEI / maxFeeWei, LEAST_GAS));
}

/** The same for a replacement, whose gas is given: the market, and how much of it can be offered for so much gas. */
export function withinCost(market: Market, gasLimit: bigint): Market {
  if (gasLimit <= LEAST_GAS) return market;
  return { ...market, capWei: smaller(market.capWei, MOST_COST_WEI / gasLimit) };
}

/** How much gas a transaction may ask for after nodes have refused what another may cost. */
export function cheapGas(room: bigint, leastGas: bigint): bigint {
  return smaller(room, larger(leastGas, LEAST_GAS));
}

/** The same after it has reverted so many times. */
export function halvedGas(room: bigint, leastGas: bigint, times: number): bigint {
  return smaller(room, larger(room >> BigInt(times), leastGas));
}

/** One whose authorizations are all used has no step left, and takes gas all the same to be looked up and told of. */
function atLeastOne(steps: number): number {
  return Math.max(steps, 1);
}

function reserveFor(stepsPerOperation: number[]): bigint {
  return (BigInt(Math.max(0, ...stepsPerOperation)) + 1n) * RESERVE_PER_STEP;
}
