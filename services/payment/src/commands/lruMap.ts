/** A map that forgets what was used longest ago when it is full. */
export interface LruMap<K, V> {
  get(key: K): V | undefined;
  set(key: K, value: V): void;
}

export function lruMap<K, V>(maxEntries: number): LruMap<K, V> {
  const entries = new Map<K, V>();
  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value as K);
    },
  };
}
