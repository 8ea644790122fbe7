import { type Freeze, isOrgAccount, isStricter } from "./accountTypes";

test("a freeze of all movements is stricter than one of outgoing movements, which is stricter than none", () => {
  const freezes: Freeze[] = ["NONE", "OUTGOING", "ALL"];
  for (const [index, one] of freezes.entries())
    for (const [other, than] of freezes.entries()) expect(isStricter(one, than)).toBe(index > other);
});

test("three accounts are the organisation's own", () => {
  const types = [
    "ORG_ISSUANCE",
    "ORG_INCENTIVE",
    "ORG_EXTERNAL",
    "NORMAL",
    "INCENTIVE",
    "GOVERNMENT",
  ] as const;
  expect(types.map(isOrgAccount)).toEqual([true, true, true, false, false, false]);
});
