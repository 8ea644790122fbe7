/** An operation in the queue of its organisation. */
export interface QueuedOperation {
  /** All wallets of its entry. */
  wallets: readonly string[];
  /** It cannot go now, regardless of earlier operations. */
  isStuck: boolean;
}

export interface QueuePlan<T> {
  /** In the order in which they go. */
  planned: T[];
  /** Stuck operations, and later ones on the same wallets. */
  heldUp: T[];
}

/**
 * Walks one organisation's queue in journal order. A stuck operation holds up all later
 * operations of its wallets, and these hold up theirs, so each wallet keeps its order. The walk
 * ends when the room is used.
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
