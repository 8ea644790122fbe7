import { BlockList } from "node:net";
import fc from "fast-check";
import { isWithin, parseAddressRange } from "./addressRange";

const range = (text: string) => parseAddressRange(text)!;

test.each([
  ["203.0.113.7", "203.0.113.7", true],
  ["203.0.113.7", "203.0.113.8", false],
  ["203.0.113.0/24", "203.0.113.255", true],
  ["203.0.113.0/24", "203.0.114.0", false],
  ["0.0.0.0/0", "255.255.255.255", true],
  ["0.0.0.0/0", "2001:db8::1", false],
  ["2001:db8::/32", "2001:db8:ffff::1", true],
  ["2001:db8::/32", "2001:db9::", false],
  ["64:ff9b::/96", "64:ff9b::192.0.2.1", true],
  ["10.0.0.0/8", "10.1.0.0/16", true],
  ["10.1.0.0/16", "10.0.0.0/8", false],
])("%s contains %s: %p", (outer, inner, expected) => {
  expect(isWithin(range(inner), range(outer))).toBe(expected);
});

test.each([
  ...[
    "",
    " ",
    "example.com",
    "203.0.113",
    "203.0.113.256",
    "203.0.113.07",
    "203.0.113.7/33",
    "203.0.113.7/-1",
  ],
  ...["203.0.113.0/", "203.0.113.0/24/1", "203.0.113.0/024", "203.0.113.0/ 24", "203.0.113.1/24", "*"],
  ...["2001:db8::/129", "2001:db8::1/32", "fe80::1%eth0", "::ffff:203.0.113.7", "::ffff:0:0/96", "[::1]"],
])("%p is no range", (text) => {
  expect(parseAddressRange(text)).toBeNull();
});

test("a range contains the addresses that the block list of Node contains", () => {
  const octet = fc.integer({ min: 0, max: 3 });
  fc.assert(
    fc.property(octet, octet, octet, octet, fc.integer({ min: 0, max: 32 }), (a, b, c, d, bits) => {
      const base = range(`${a}.${b}.0.0`).first;
      const first = (base >> BigInt(32 - bits)) << BigInt(32 - bits);
      const network = [24n, 16n, 8n, 0n].map((shift) => (first >> shift) & 0xffn).join(".");
      const list = new BlockList();
      list.addSubnet(network, bits, "ipv4");
      const address = `${a}.${b}.${c}.${d}`;
      expect(isWithin(range(address), range(`${network}/${bits}`))).toBe(list.check(address, "ipv4"));
    }),
  );
});
