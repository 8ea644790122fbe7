import { type Database } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { type Block, type Provider, type Signer } from "../../evm";
import { type Fees, firstFees, gasRoom } from "../domain/fees";
import { sumOpenCosts } from "../store/transactions";
import { findChainNonce } from "./findChainNonce";
import { NONCE_UNKNOWN } from "./submit";

export interface BudgetDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  feeCapWei: bigint;
}

/** The offered fees, the gas limit of one transaction, and the gas that the signer can pay for. */
export interface GasBudget {
  fees: Fees;
  gasRoom: bigint;
  payableGas: bigint;
}

/** The reason why nothing can be sent now, and the time of the next attempt. */
export interface NoBudget {
  reason: "nonce_unclear" | "fee_above_cap" | "signer_out_of_gas";
  retryMs: number;
}

const RETRY_FEES_MS = 3_000;
const RETRY_MS = 5_000;

/**
 * The budget for the next transactions, each of at least `leastGas`. Nodes accept a transaction
 * only if its sender can pay for it beside all unmined ones at their highest cost.
 */
export async function findGasBudget(
  { feeCapWei, ...deps }: BudgetDeps,
  { baseFeeWei, gasLimit }: Block,
  leastGas: bigint,
): Promise<GasBudget | NoBudget> {
  const { db, log, provider, signer } = deps;
  const [tipWei, balance, chainNonce] = await Promise.all([
    provider.priorityFeeWei(),
    provider.balance(signer.address),
    findChainNonce(deps),
  ]);
  if (chainNonce === null) {
    log.error({ signer: signer.address }, NONCE_UNKNOWN);
    return { reason: "nonce_unclear", retryMs: RETRY_MS };
  }
  const fees = firstFees({ baseFeeWei, tipWei, capWei: feeCapWei });
  if (!fees) return { reason: "fee_above_cap", retryMs: RETRY_FEES_MS };
  const payableGas = (balance - (await sumOpenCosts(db, signer.address, chainNonce))) / fees.maxFeeWei;
  if (payableGas < leastGas) return { reason: "signer_out_of_gas", retryMs: RETRY_MS };
  return { fees, gasRoom: gasRoom(gasLimit, fees), payableGas };
}
