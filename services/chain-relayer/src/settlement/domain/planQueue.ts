/** An operation in the queue of its organisation. */
export interface QueuedOperation {
  /** All wallets of its entry. */
  wallets: readonly string[];
  /** It cannot go now, whatever the operations before it do. */
  isStuck: boolean;
}

export interface QueuePlan<T> {
  /** In the order in which they go. */
  planned: T[];
  /** Stuck operations, and those behind them on the same wallets. */
  heldUp: T[];
}

/**
 * Walks the queue of one organisation in the order of the journal. A stuck operation holds up all
 * later operations of its wallets, and these hold up theirs: each wallet keeps its order. The walk
 * ends when as many are planned as there is room for.
 */
export function planQueue<T extends QueuedOperation>(queue: readonly T[], room: number): QueuePlan<T> {
  const planned: T[] = [];
  const heldUp: T[] = [];
  const heldWallets = new Set<string>();
  for (const operation of queue) {
    if (operation.isStuck || operation.wallets.some((walletId) => heldWallets.has(walletId))) {
      heldUp.push(operation);
      for (const walletId of operation.wallets) heldWallets.add(walletId);
      continue;
    }
    if (planned.length >= room) break;
    planned.push(operation);
  }
  return { planned, heldUp };
}
