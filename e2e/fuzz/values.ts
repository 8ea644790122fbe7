import { pick } from "@wonrail/kit/testing/random";

/** A seeded source of numbers from 0 to 1. */
export type Random = () => number;

/** Strings that break parsers, encoders, databases and comparisons. */
const HOSTILE_STRINGS: readonly string[] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud83d",
  "\ude42",
  "\ufeff",
  "\u202e",
  "ﬀ",
  "İ",
  "🙂".repeat(200),
  "금액",
  "٣",
  "e\u0301".repeat(100),
  "x".repeat(201),
  "x".repeat(10_000),
  "' or 1=1; --",
  '"; drop table accounts; --',
  "%00",
  "%zz",
  "%c0%ae",
  "../../etc/passwd",
  "..%2f..%2f",
  "${jndi:ldap://x}",
  "{{7*7}}",
  "<script>",
  "\r\nX-Injected: 1",
  "\u001b[31m",
  "null",
  "undefined",
  "true",
  "NaN",
  "Infinity",
  "-Infinity",
  "0",
  "-0",
  "-1",
  "1e400",
  "1e-400",
  "0x10",
  "9007199254740993",
  "9223372036854775808",
  "-9223372036854775809",
  "18446744073709551616",
  "9".repeat(400),
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "0000-00-00T00:00:00Z",
  "9999-12-31T23:59:60Z",
  "+275760-09-13T00:00:00.001Z",
  "-271821-04-19T23:59:59.999Z",
  "2026-02-30T00:00:00Z",
  "wal_",
  `wal_${"0".repeat(32)}`,
  `WAL_${"0".repeat(32)}`,
  `org_${"f".repeat(32)}`,
  "0x",
  `0x${"0".repeat(40)}`,
  `0x${"f".repeat(64)}`,
];

/** JSON values of each type, and at the limits of each. */
const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  1e21,
  5e-324,
  [],
  [[]],
  [null],
  {},
  { a: { b: { c: {} } } },
  { length: 1 },
];

/** JSON texts that no serialiser writes. */
export const HOSTILE_JSON: readonly string[] = [
  "1e400",
  "-1e400",
  "1E3",
  "1000.0",
  "-0",
  "NaN",
  "Infinity",
  "01",
  "+1",
  "0x1",
  "'a'",
  "undefined",
  "{",
  "[1,",
  '{"a":1,"a":2}',
  '"\\ud800"',
  '"\\u0000"',
  '"\t"',
  "[".repeat(40) + "]".repeat(40),
  "9".repeat(1_000),
];

export function hostileString(random: Random): string {
  return random() < 0.85 ? pick(random, HOSTILE_STRINGS) : noise(random, 1 + Math.floor(random() * 60));
}

export function hostileValue(random: Random): unknown {
  return random() < 0.5 ? hostileString(random) : pick(random, HOSTILE_VALUES);
}

export function integerBetween(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1));
}

export function chance(random: Random, part: number): boolean {
  return random() < part;
}

/** Characters of all planes, with control characters and lone surrogates. */
function noise(random: Random, length: number): string {
  const limit = pick(random, [0x20, 0x80, 0x800, 0x10000]);
  return Array.from({ length }, () => String.fromCharCode(Math.floor(random() * limit))).join("");
}
