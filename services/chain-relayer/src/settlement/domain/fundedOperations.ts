import { type Step } from "./steps";

/** Steps of an operation that are still to be done. */
export interface Spending {
  steps: readonly Step[];
}

/**
 * Which of these operations their wallets can pay for, one after the other. An operation that cannot be
 * paid takes nothing from those behind it.
 */
export function fundedOperations<T extends Spending>(
  operations: readonly T[],
  balances: ReadonlyMap<string, bigint>,
): Set<T> {
  const funded = new Set<T>();
  let left = new Map(balances);
  for (const operation of operations) {
    const after = spend(operation.steps, left);
    if (after === null) continue;
    left = after;
    funded.add(operation);
  }
  return funded;
}

/** The balances after the steps, in order; null if a wallet has too little for its step. */
function spend(steps: readonly Step[], before: ReadonlyMap<string, bigint>): Map<string, bigint> | null {
  const balances = new Map(before);
  for (const { fromWalletId, toWalletId, amountWon } of steps) {
    if (fromWalletId !== null) {
      const left = (balances.get(fromWalletId) ?? 0n) - amountWon;
      if (left < 0n) return null;
      balances.set(fromWalletId, left);
    }
    if (toWalletId !== null) balances.set(toWalletId, (balances.get(toWalletId) ?? 0n) + amountWon);
  }
  return balances;
}
