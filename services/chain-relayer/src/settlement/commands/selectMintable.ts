import { type Database } from "@wonrail/kit/db";
import { wonToTokenUnits } from "@wonrail/kit/contract/money";
import { type Block, findMintRoom, type Provider } from "../../evm";
import { selectFittingMints } from "../domain/selectFittingMints";
import { type Step } from "../domain/steps";
import { type Operation } from "../store/operations";
import { postpone, sumUnminedMints } from "../store/plannedOperations";

export interface MintDeps {
  db: Database;
  provider: Pick<Provider, "callAt">;
  chain: { tokenAddress: string; paymentManagerAddress: string };
}

const ASK_AGAIN_MS = 15_000;

/**
 * Returns the operations that may go now. Mints beyond the allowance, the daily cap or their
 * organisation's share wait, because the chain would refuse them for gas.
 */
export async function selectMintable(
  { db, provider, chain }: MintDeps,
  planned: Operation[],
  latest: Block,
): Promise<Operation[]> {
  const mints = planned
    .map((operation) => ({ operation, orgId: operation.orgId, units: mintedBy(operation.steps) }))
    .filter(({ units }) => units > 0n);
  if (mints.length === 0) return planned;
  const { allowance, today } = await findMintRoom(provider, chain, latest.number);
  const room = (allowance < today ? allowance : today) - (await sumUnminedMints(db));
  const fitting = selectFittingMints(mints, room);
  const waiting = mints.filter((mint) => !fitting.has(mint)).map(({ operation }) => operation);
  if (waiting.length === 0) return planned;
  const reason = allowance <= today ? "MintAllowanceExceeded" : "MintCapExceeded";
  await postpone(db, waiting, reason, ASK_AGAIN_MS);
  const left = new Set(waiting);
  return planned.filter((operation) => !left.has(operation));
}

function mintedBy(steps: readonly Step[]): bigint {
  return steps.reduce(
    (sum, { fromWalletId, amountWon }) => (fromWalletId === null ? sum + wonToTokenUnits(amountWon) : sum),
    0n,
  );
}
