import { assert } from "./contract/errors";

/**
 * A map with a size limit. A full map drops the half that was used longer ago. A plain Map, which
 * moves an entry to its end at each access, leaves hash tables in the old generation
 * (docs/performance/memory.md).
 */
export class BoundedMap<K, V> implements Iterable<[K, V]> {
  private readonly half: number;
  private younger = new Map<K, V>();
  private older = new Map<K, V>();

  constructor(maxEntries: number) {
    assert(maxEntries >= 2, "a bounded map has two halves");
    this.half = Math.floor(maxEntries / 2);
  }

  get size(): number {
    return this.younger.size + this.older.size;
  }

  get(key: K): V | undefined {
    const value = this.younger.get(key);
    if (value !== undefined) return value;
    const old = this.older.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.older.delete(key);
    if (this.younger.size >= this.half && !this.younger.has(key)) {
      this.older = this.younger;
      this.younger = new Map();
    }
    this.younger.set(key, value);
  }

  delete(key: K): void {
    this.younger.delete(key);
    this.older.delete(key);
  }

  *[Symbol.iterator](): Iterator<[K, V]> {
    yield* this.older;
    yield* this.younger;
  }
}
