import { won } from "@wonrail/kit/contract/money";
import { isWallet, operationIdOf, type Step, stepOfHold, stepsOf } from "../steps";

export interface PostedOperation {
  id: string;
  steps: Step[];
  wallets: string[];
  /** Set for a hold to an outside address; null for an entry. */
  holdNumber: number | null;
}

/**
 * Random entries of a ledger in its order, and the final balances. No wallet ever spends money that
 * it lacks.
 */
export function randomOperations(
  random: () => number,
  { count, wallets, outside }: { count: number; wallets: number; outside: string },
): { posted: PostedOperation[]; balances: Map<string, bigint> } {
  const balances = new Map<string, bigint>();
  const sequences = new Map<string, bigint>();
  const next = (account: string) => sequences.get(account) ?? 1n;
  const anyWallet = () => `wal_${Math.floor(random() * wallets)}`;

  function hold(number: number, walletId: string, amount: bigint): PostedOperation {
    const id = `hold-${number}`;
    const step = stepOfHold({ holdRequestId: id, walletId, toAddress: outside, amountWon: won(amount) });
    return { id, steps: [step], wallets: [walletId], holdNumber: number };
  }

  function entry(payer: string, to: string, amount: bigint): PostedOperation {
    const lines = [
      { accountId: payer, amountWon: won(-amount), sequence: next(payer) },
      { accountId: to, amountWon: won(amount), sequence: next(to) },
    ];
    const wallets = lines.map(({ accountId }) => accountId).filter(isWallet);
    for (const { accountId, sequence } of lines) sequences.set(accountId, sequence + 1n);
    return {
      id: operationIdOf(lines),
      steps: stepsOf(lines),
      wallets: [...new Set(wallets)],
      holdNumber: null,
    };
  }

  const posted = Array.from({ length: count }, (_, number) => {
    const [from, to] = [anyWallet(), anyWallet()];
    const amount = BigInt(1 + Math.floor(random() * 100));
    const rich = (balances.get(from) ?? 0n) >= amount;
    const pays = rich && from !== to && random() < 0.8;
    const operation =
      rich && random() < 0.06 ? hold(number, from, amount) : entry(pays ? from : "acc_issuance", to, amount);
    for (const step of operation.steps) move(balances, step);
    return operation;
  });
  return { posted, balances };
}

/** Moves the tokens of a step, in place; false when there are too few. */
export function move(
  balances: Map<string, bigint>,
  { fromWalletId, toWalletId, toAddress, amountWon }: Step,
): boolean {
  const from = fromWalletId ?? "supply";
  const to = toWalletId ?? toAddress ?? "supply";
  const left = (balances.get(from) ?? 0n) - amountWon;
  if (left < 0n && from !== "supply") return false;
  balances.set(from, left);
  balances.set(to, (balances.get(to) ?? 0n) + amountWon);
  return true;
}
