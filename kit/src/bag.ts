/** A collection whose items change all the time. */
export interface Bag<T> {
  readonly size: number;
  /** Returns a function that removes the item. */
  put(thing: T): () => void;
  all(): readonly T[];
}

/**
 * An array instead of a Set, where many items pass through. V8 replaces the table of a Set or Map
 * every few changes, and each old table points at the next one. An old table in the old generation
 * then keeps all later ones and their items until a full collection. So every call lived on with
 * its answer, and the heap was collected each second.
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
