/** Where an operation stands on an account, in the ledger's numbering of that account's lines. */
export interface Place {
  accountId: string;
  /** The head must have come to here. */
  atSequence: bigint;
  /** Where the operation leaves the head; null when it only waits. */
  movesTo: bigint | null;
}

export interface Plan<T> {
  /** In the order in which they go: none before one that it depends on. */
  planned: T[];
  /** The accounts that have moved on, and to where. */
  heads: Map<string, bigint>;
}

/**
 * Which of these operations may go now. One goes when the head of each of its accounts has come to its place, and then moves those heads,
 * so a whole chain on a busy account goes at once. An account whose head is not given stands at its beginning.
 */
export function planBatch<T extends { places: Place[] }>(
  candidates: readonly T[],
  heads: ReadonlyMap<string, bigint>,
  limit: number,
): Plan<T> {
  const moved = new Map<string, bigint>();
  const headOf = (accountId: string) => moved.get(accountId) ?? heads.get(accountId) ?? 1n;
  const behind = new Map<string, T[]>();
  const planned: T[] = [];
  const queue = [...candidates];
  for (let next = 0; next < queue.length && planned.length < limit; next += 1) {
    const operation = queue[next]!;
    const blocking = operation.places.find(({ accountId, atSequence }) => headOf(accountId) < atSequence);
    if (blocking) {
      const others = behind.get(blocking.accountId);
      if (others) others.push(operation);
      else behind.set(blocking.accountId, [operation]);
      continue;
    }
    planned.push(operation);
    for (const { accountId, movesTo } of operation.places) {
      if (movesTo === null || movesTo <= headOf(accountId)) continue;
      moved.set(accountId, movesTo);
      queue.push(...(behind.get(accountId) ?? []));
      behind.delete(accountId);
    }
  }
  return { planned, heads: moved };
}
