/** Owner key for items without an owner. */
export const NOBODY = "";

/** Counts the places in use per owner, up to a limit. Items without an owner have no limit. */
export function createOwnerLimits(largest: number): {
  reserve: (owner: string) => boolean;
  release: (owner: string) => void;
} {
  const held = new Map<string, number>();
  return {
    reserve(owner) {
      const count = held.get(owner) ?? 0;
      if (owner !== NOBODY && count >= largest) return false;
      held.set(owner, count + 1);
      return true;
    },
    release(owner) {
      const count = held.get(owner)! - 1;
      if (count > 0) held.set(owner, count);
      else held.delete(owner);
    },
  };
}

/** How much a batch may hold. */
export interface BatchLimits {
  items: number;
  /** The sum of the items' weights. A single heavier item still goes, alone. */
  weight: number;
}

/**
 * Takes each owner's first item, then each owner's second, until an item does not fit. Both parts stay
 * in the order in which the items came.
 */
export function takeFairly<T extends { owner: string; weight: number }>(
  queue: T[],
  limits: BatchLimits,
): { taken: T[]; left: T[] } {
  if (countFitting(queue, limits) === queue.length) return { taken: queue, left: [] };
  const seen = new Map<string, number>();
  const turns = queue.map(({ owner }) => {
    const turn = seen.get(owner) ?? 0;
    seen.set(owner, turn + 1);
    return turn;
  });
  const inTurns = turns
    .map((_, index) => index)
    .sort((one, other) => turns[one]! - turns[other]! || one - other);
  const fitting = countFitting(
    inTurns.map((index) => queue[index]!),
    limits,
  );
  const chosen = new Set(inTurns.slice(0, fitting));
  return {
    taken: queue.filter((_, index) => chosen.has(index)),
    left: queue.filter((_, index) => !chosen.has(index)),
  };
}

/** How many of the first items fit, at least one. */
function countFitting(queue: { weight: number }[], { items, weight }: BatchLimits): number {
  let [count, sum] = [0, 0];
  for (const item of queue) {
    sum += item.weight;
    if (count > 0 && (count === items || sum > weight)) break;
    count += 1;
  }
  return count;
}
