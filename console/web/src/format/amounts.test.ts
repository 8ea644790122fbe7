import {
  formatBasisPoints,
  formatCount,
  formatGwei,
  formatTokenUnits,
  formatWei,
  formatWon,
  groupDigits,
} from "./amounts";

test.each([
  ["0", "0 KRW"],
  ["1500", "1,500 KRW"],
  ["-1234567", "-1,234,567 KRW"],
  ["9007199254740993", "9,007,199,254,740,993 KRW"],
  [undefined, "—"],
])("KRW %s is written as %s", (amount, text) => {
  expect(formatWon(amount)).toBe(text);
});

test.each([
  ["1500000", "1.5 tokens"],
  ["1", "0.000001 tokens"],
  ["-2000000", "-2 tokens"],
  ["123456789012345678", "123,456,789,012.345678 tokens"],
  ["not a number", "not a number tokens"],
])("token units %s are written as %s", (units, text) => {
  expect(formatTokenUnits(units)).toBe(text);
});

test.each([
  ["999999447389277257341", "999.999447 ETH"],
  ["552610722742659", "0.000552 ETH"],
  ["21000000000", "21 Gwei"],
  ["-1500000000000000000", "-1.5 ETH"],
  ["0", "0 ETH"],
  [undefined, "—"],
])("%s wei are written as %s", (wei, text) => {
  expect(formatWei(wei)).toBe(text);
});

test("a price of gas is written in Gwei", () => {
  expect(formatGwei("2084924512")).toBe("2.084924512 Gwei");
});

test("a count has its unit in the singular for one only", () => {
  expect([0, "1", 1_234_567].map((count) => formatCount(count, "entry", "entries"))).toEqual([
    "0 entries",
    "1 entry",
    "1,234,567 entries",
  ]);
});

test("basis points are written as a percentage", () => {
  expect(formatBasisPoints(250)).toBe("2.5 %");
});

test("text without digits stays as it is", () => {
  expect(groupDigits("<b>12345</b>")).toBe("<b>12345</b>");
});
