import { won } from "@wonrail/kit/contract/money";
import { giveBackToLimit, limitDayOf, nameOfSeoulDay, seoulDay, startOfSeoulDay, usedOn } from "./limits";
import { type Account } from "./types";

const MIDNIGHT_MS = Date.parse("2026-11-29T15:00:00Z");
const DAY = seoulDay(MIDNIGHT_MS);
const account = (limitDay: number) => ({ limitDay, limitUsedWon: won(700n) }) as Account;

test("a day begins at midnight in Seoul, which is 15:00 in UTC", () => {
  expect([seoulDay(MIDNIGHT_MS - 1), seoulDay(MIDNIGHT_MS + 86_399_999)]).toEqual([DAY - 1, DAY]);
  expect(startOfSeoulDay(DAY)).toEqual(new Date(MIDNIGHT_MS));
  expect(nameOfSeoulDay(DAY)).toBe("2026-11-30");
});

test("a clock that went back over midnight stays on its day, and another difference does not", () => {
  const days = [DAY - 1, DAY, DAY + 1, DAY + 2].map((day) => limitDayOf(account(day), MIDNIGHT_MS));
  expect(days).toEqual([DAY, DAY, DAY + 1, DAY]);
});

test("another day has nothing used", () => {
  expect([usedOn(account(DAY), DAY), usedOn(account(DAY), DAY + 1)]).toEqual([700n, 0n]);
});

test.each([
  [DAY, 200n, 500n],
  [DAY, 700n, 0n],
  [DAY, 701n, 0n],
  [DAY - 1, 200n, 700n],
])("an amount returns on its own day only, down to nothing (%#)", (day, amount, left) => {
  const of = account(DAY);
  giveBackToLimit(of, day, won(amount));
  expect(of.limitUsedWon).toBe(left);
});
