import { type Step } from "./steps";

/** Steps of an operation that are still to be done. */
export interface Spending {
  steps: readonly Step[];
}

/**
 * Finds the operations that their wallets can pay for, one after the other. An operation that
 * cannot be paid takes nothing from later operations.
 */
export function selectFundedOperations<T extends Spending>(
  operations: readonly T[],
  balances: ReadonlyMap<string, bigint>,
): Set<T> {
  const funded = new Set<T>();
  const left = new Map(balances);
  for (const operation of operations) {
    const changed = spend(operation.steps, left);
    if (changed === null) continue;
    for (const [walletId, balance] of changed) left.set(walletId, balance);
    funded.add(operation);
  }
  return funded;
}

/** The balances that the steps change, in order; null if a wallet has too little for its step. */
function spend(steps: readonly Step[], before: ReadonlyMap<string, bigint>): Map<string, bigint> | null {
  const changed = new Map<string, bigint>();
  const balanceOf = (walletId: string) => changed.get(walletId) ?? before.get(walletId) ?? 0n;
  for (const { fromWalletId, toWalletId, amountWon } of steps) {
    if (fromWalletId !== null) {
      const left = balanceOf(fromWalletId) - amountWon;
      if (left < 0n) return null;
      changed.set(fromWalletId, left);
    }
    if (toWalletId !== null) changed.set(toWalletId, balanceOf(toWalletId) + amountWon);
  }
  return changed;
}
