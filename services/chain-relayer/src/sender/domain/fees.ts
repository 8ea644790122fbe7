import { largest, smallest } from "@wonrail/kit/contract/bigints";

/** The fees that a transaction offers. */
export interface Fees {
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
}

/** The fees of the next block, and the cap on ours. */
export interface Market {
  baseFeeWei: bigint;
  tipWei: bigint;
  capWei: bigint;
}

/** The fees of a first offer; null while even the next block is dearer than the cap. */
export function firstFees({ baseFeeWei, tipWei, capWei }: Market): Fees | null {
  const priorityFeeWei = largest(tipWei, 1n);
  const maxFeeWei = offerFor({ baseFeeWei, tipWei: priorityFeeWei, capWei });
  return maxFeeWei === null ? null : { maxFeeWei, priorityFeeWei };
}

/**
 * Fees of a replacement. Nodes require a tenth more in both fees; an eighth is on the safe side.
 * Null if the cap forbids it.
 */
export function replacementFees(last: Fees, market: Market): Fees | null {
  const least = bump(last.maxFeeWei);
  const tipWei = largest(bump(last.priorityFeeWei), market.tipWei);
  const offer = offerFor({ ...market, tipWei });
  if (least > market.capWei || offer === null) return null;
  return { maxFeeWei: largest(least, offer), priorityFeeWei: tipWei };
}

/**
 * Whether the next block includes the offer: the block's producer gets the rest beyond the base
 * fee, at most the tip.
 */
export function isEnough({ maxFeeWei, priorityFeeWei }: Fees, { baseFeeWei, tipWei }: Market): boolean {
  return smallest(maxFeeWei - baseFeeWei, priorityFeeWei) >= tipWei;
}

/**
 * Twice the base fee leaves room for six full blocks. An offer at the cap could never be
 * replaced, so an offer keeps room for two or three bumps. Null if the market is above the cap.
 */
function offerFor({ baseFeeWei, tipWei, capWei }: Market): bigint | null {
  const needed = baseFeeWei + tipWei;
  if (needed > capWei) return null;
  const most = (capWei * 7n) / 10n;
  return needed <= most ? smallest(baseFeeWei * 2n + tipWei, most) : needed;
}

function bump(feeWei: bigint): bigint {
  return feeWei + feeWei / 8n + 1n;
}

/** No transaction may take more than 2^24 (EIP-7825). */
const MOST_GAS = 1n << 24n;
/** Usual nodes refuse a transaction that may cost more (geth's rpc.txfeecap). */
const MOST_COST_WEI = 10n ** 18n;
/** Gas of a transaction that fits at any price. */
const GAS_AT_ANY_PRICE = 1_000_000n;

/** Gas limit of one transaction: three quarters of a block, so that it fits beside others. */
export function mostGas(blockGasLimit: bigint): bigint {
  return smallest((blockGasLimit * 3n) / 4n, MOST_GAS);
}

/**
 * Gas limit under these fees. Nodes would refuse a higher cost for ever, and only a higher offer
 * could then use the nonce. One operation always fits.
 */
export function gasRoom(blockGasLimit: bigint, { maxFeeWei }: Fees): bigint {
  return smallest(mostGas(blockGasLimit), largest(MOST_COST_WEI / maxFeeWei, GAS_AT_ANY_PRICE));
}

const LEAST_NOOP_GAS = 21_000n;
const MOST_NOOP_GAS = 1_000_000n;

/**
 * Gas limit of a no-op by the nodes' estimate with a margin: some rollups charge for data in gas.
 * The upper bound limits a wrong estimate to the cost of a small batch.
 */
export function noopGas(estimate: bigint): bigint {
  if (estimate <= LEAST_NOOP_GAS) return LEAST_NOOP_GAS;
  return smallest((estimate * 5n) / 4n, MOST_NOOP_GAS);
}

/** The market for a replacement with this gas: the cap shrinks to the cost that nodes accept. */
export function withinCost(market: Market, gasLimit: bigint): Market {
  if (gasLimit <= GAS_AT_ANY_PRICE) return market;
  return { ...market, capWei: smallest(market.capWei, MOST_COST_WEI / gasLimit) };
}
