import fc from "fast-check";
import { DomainError } from "./errors";
import {
  MAX_WON,
  basisPointsOf,
  formatWon,
  parseWon,
  sumWon,
  won,
  wonToJson,
  wonToTokenUnits,
} from "./money";

test.each([
  "",
  " 1",
  "1 ",
  "01",
  "-1",
  "+1",
  "1.0",
  "1e3",
  "0x10",
  "１",
  "NaN",
  "9007199254740992",
  "99999999999999999999",
])("refuses %p as an amount and names the field", (text) => {
  expect(() => parseWon(text, "amountWon")).toThrow(DomainError);
  try {
    parseWon(text, "amountWon");
  } catch (error) {
    expect((error as DomainError).details).toMatchObject({ fields: [{ path: "amountWon" }] });
  }
});

test("a formatted amount parses to the same amount", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: MAX_WON }), (amount) => {
      expect(parseWon(formatWon(won(amount)), "x")).toBe(amount);
      expect(BigInt(wonToJson(won(amount)))).toBe(amount);
    }),
  );
});

test("an accrual rounds down and never exceeds the exact share", () => {
  expect(basisPointsOf(won(999n), 100)).toBe(9n);
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: MAX_WON }),
      fc.integer({ min: 0, max: 10_000 }),
      (amount, rateBps) => {
        const accrued = basisPointsOf(won(amount), rateBps);
        const exact = amount * BigInt(rateBps);
        expect(accrued * 10_000n <= exact && exact < (accrued + 1n) * 10_000n).toBe(true);
      },
    ),
  );
});

test("sums and token units are exact", () => {
  expect(sumWon([won(1n), won(2n), won(-3n)])).toBe(0n);
  expect(wonToTokenUnits(won(1n))).toBe(1_000_000n);
});

test("an amount beyond exact JSON numbers is never sent", () => {
  expect(() => wonToJson(won(MAX_WON + 1n))).toThrow("does not fit");
});
