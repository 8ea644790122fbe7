/** A map that forgets what was stored longest ago when it is full. Storing again makes an entry young; reading does not. */
export class BoundedMap<K, V> {
  private readonly entries = new Map<K, V>();

  constructor(private readonly maxEntries: number) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: K): V | undefined {
    return this.entries.get(key);
  }

  /** Returns the value that had to make room. */
  set(key: K, value: V): V | undefined {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size <= this.maxEntries) return undefined;
    const [[oldestKey, oldest]] = this.entries as unknown as [[K, V]];
    this.entries.delete(oldestKey);
    return oldest;
  }

  delete(key: K): void {
    this.entries.delete(key);
  }

  [Symbol.iterator](): IterableIterator<[K, V]> {
    return this.entries[Symbol.iterator]();
  }
}
