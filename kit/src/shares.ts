/** Owner key for items without an owner. */
export const NOBODY = "";

/** Places in use per owner, with a limit; items without an owner have none. */
export function createShares(largest: number): {
  take: (owner: string) => boolean;
  give: (owner: string) => void;
} {
  const held = new Map<string, number>();
  return {
    take(owner) {
      const count = held.get(owner) ?? 0;
      if (owner !== NOBODY && count >= largest) return false;
      held.set(owner, count + 1);
      return true;
    },
    give(owner) {
      const count = held.get(owner)! - 1;
      if (count > 0) held.set(owner, count);
      else held.delete(owner);
    },
  };
}

/**
 * Takes every owner's first item, then every owner's second one, up to a number; both parts keep
 * their order.
 */
export function takeInTurns<T>(
  queue: T[],
  size: number,
  ownerOf: (item: T) => string,
): { taken: T[]; left: T[] } {
  if (queue.length <= size) return { taken: queue, left: [] };
  const seen = new Map<string, number>();
  const turns = queue.map((item) => {
    const turn = seen.get(ownerOf(item)) ?? 0;
    seen.set(ownerOf(item), turn + 1);
    return turn;
  });
  const inTurns = turns
    .map((_, index) => index)
    .sort((one, other) => turns[one]! - turns[other]! || one - other);
  const chosen = new Set(inTurns.slice(0, size));
  return {
    taken: queue.filter((_, index) => chosen.has(index)),
    left: queue.filter((_, index) => !chosen.has(index)),
  };
}
