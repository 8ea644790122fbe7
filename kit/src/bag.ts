/** Things that come and go all the time. */
export interface Bag<T> {
  readonly size: number;
  /** Returns how to take it out again. */
  put(thing: T): () => void;
  all(): readonly T[];
}

/**
 * Instead of a Set, where much passes through: V8 replaces the table of a Set or Map every few changes, and each old table points at the next. Once one of
 * them is in the old generation, dead, it keeps all that come after it, and what they held, until the whole heap is walked through: every call that was in
 * such a Set lived on with its answer, and the heap was walked through each second for it. An array is changed in its place.
 */
export function bag<T>(): Bag<T> {
  const things: { thing: T }[] = [];
  return {
    get size() {
      return things.length;
    },
    put(thing) {
      const place = { thing };
      things.push(place);
      return () => {
        const index = things.indexOf(place);
        if (index >= 0) things.splice(index, 1);
      };
    },
    all: () => things.map(({ thing }) => thing),
  };
}
