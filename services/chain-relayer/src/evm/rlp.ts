/**
 * RLP, the encoding of transactions: byte strings and lists, each preceded by its length.
 * Ethereum's Yellow Paper, appendix B.
 */

export function rlpBytes(bytes: Uint8Array): Buffer {
  return bytes.length === 1 && bytes[0]! < 0x80 ? Buffer.from(bytes) : withLength(0x80, [bytes]);
}

/** Without leading zeros; zero has no byte. */
export function rlpNumber(value: bigint): Buffer {
  return rlpBytes(bytesOf(value));
}

/** Encodes items that are already encoded. */
export function rlpList(items: Uint8Array[]): Buffer {
  return withLength(0xc0, items);
}

function withLength(base: number, parts: Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length < 56) return Buffer.concat([Buffer.of(base + length), ...parts]);
  const bytes = bytesOf(BigInt(length));
  return Buffer.concat([Buffer.of(base + 55 + bytes.length), bytes, ...parts]);
}

function bytesOf(value: bigint): Buffer {
  if (value === 0n) return Buffer.alloc(0);
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex");
}
