import { isIPv4, isIPv6 } from "node:net";

/** A range of client addresses: an IPv4 or IPv6 address with the number of its fixed bits. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly fixedBits: number;
}

const SIZE = { 4: 32, 6: 128 } as const;

export const ADDRESS_RANGE_FORM =
  "must be an IPv4 or IPv6 address, or a CIDR range without bits behind its prefix, such as 203.0.113.0/24";

/**
 * Null for text in another form. A range with bits behind its prefix is likely a mistake, so it is
 * null too. An IPv4 address inside of IPv6 must be written as IPv4.
 */
export function parseAddressRange(text: string): AddressRange | null {
  const [address = "", bits, ...rest] = text.split("/");
  const family = isIPv4(address) ? 4 : isIPv6(address) ? 6 : null;
  if (family === null || rest.length > 0 || address.includes("%")) return null;
  if (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)) return null;
  const fixedBits = bits === undefined ? SIZE[family] : Number(bits);
  if (fixedBits > SIZE[family]) return null;
  const first = family === 4 ? ipv4Number(address) : ipv6Number(address);
  const range = { family, first, fixedBits } as const;
  if (prefixOf(first, range) << freeBits(range) !== first) return null;
  return family === 6 && first >> 32n === 0xffffn ? null : range;
}

/** True when each address of the inner range is in the outer one. */
export function isWithin(inner: AddressRange, outer: AddressRange): boolean {
  return (
    inner.family === outer.family &&
    inner.fixedBits >= outer.fixedBits &&
    prefixOf(inner.first, outer) === prefixOf(outer.first, outer)
  );
}

/** True when one of the ranges contains the address. Text that is no address is in no range. */
export function containsAddress(ranges: readonly AddressRange[], address: string): boolean {
  const single = parseAddressRange(address);
  return single !== null && ranges.some((range) => isWithin(single, range));
}

function freeBits({ family, fixedBits }: AddressRange): bigint {
  return BigInt(SIZE[family] - fixedBits);
}

function prefixOf(address: bigint, range: AddressRange): bigint {
  return address >> freeBits(range);
}

function ipv4Number(address: string): bigint {
  return address.split(".").reduce((number, part) => (number << 8n) | BigInt(part), 0n);
}

function ipv6Number(address: string): bigint {
  const [head = "", tail] = withoutDots(address).split("::");
  const before = groupsOf(head);
  const after = groupsOf(tail ?? "");
  const zeros = Array<bigint>(8 - before.length - after.length).fill(0n);
  return [...before, ...zeros, ...after].reduce((number, group) => (number << 16n) | group, 0n);
}

/** Writes a dotted end as two groups. */
function withoutDots(address: string): string {
  return address.replace(/\d+\.\d+\.\d+\.\d+$/, (dotted) => {
    const number = ipv4Number(dotted);
    return `${(number >> 16n).toString(16)}:${(number & 0xffffn).toString(16)}`;
  });
}

function groupsOf(text: string): bigint[] {
  return text === "" ? [] : text.split(":").map((group) => BigInt(`0x${group}`));
}
