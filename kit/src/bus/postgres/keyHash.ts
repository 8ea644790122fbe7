/** FNV-1a, 32 bits. It decides the partition of a key, so it may never change, nor depend on a version of Postgres or Node. */
export function keyHash(key: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
