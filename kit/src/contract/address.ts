import { keccak_256 } from "@noble/hashes/sha3";

/** An account's address with its EIP-55 checksum: 0x and 40 hex digits whose capitals are the checksum. */
export type Address = `0x${string}`;

export const ZERO_ADDRESS: Address = `0x${"0".repeat(40)}`;

/** Form of an address, with or without checksum. */
export const ADDRESS_FORM = /^0x[0-9a-fA-F]{40}$/;

/**
 * Reads an address in lower case, in upper case, or with checksum. Null for any other text, also
 * for mixed case with a wrong checksum, which is how a mistyped address looks.
 */
export function readAddress(text: string): Address | null {
  if (!ADDRESS_FORM.test(text)) return null;
  const digits = text.slice(2);
  const lower = digits.toLowerCase();
  const address = withChecksum(lower);
  if (digits === lower || digits === digits.toUpperCase()) return address;
  return address === text ? address : null;
}

export function sameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The address with its checksum. The ledger and the chain keep addresses without one. */
export function checksummed(address: string): string {
  return readAddress(address) ?? address;
}

function withChecksum(lower: string): Address {
  const hash = keccak_256(lower);
  let address = "0x";
  for (let index = 0; index < 40; index += 1) {
    const nibble = index % 2 === 0 ? hash[index >> 1]! >> 4 : hash[index >> 1]! & 0x0f;
    address += nibble >= 8 ? lower[index]!.toUpperCase() : lower[index]!;
  }
  return address as Address;
}
