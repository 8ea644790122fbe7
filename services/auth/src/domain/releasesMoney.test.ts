import fc from "fast-check";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import { makeOrganisation, type Organisation } from "./organisations";
import { MONEY_TERMS, releasesMoney } from "./releasesMoney";

const organisation = makeOrganisation(newId("org"), { name: "First", code: "FIRST" }, new Date());

// Few values, so that only the status differs now and then.
const amounts = fc.integer({ min: 0, max: 1 });
const terms = fc.record({
  dailyTransferLimitWon: amounts.map((amount) => won(BigInt(amount))),
  dailyChargeLimitWon: amounts.map((amount) => won(BigInt(amount))),
  maxChargeWon: amounts.map((amount) => won(BigInt(amount))),
  incentiveRateBps: amounts,
  status: fc.constantFrom("ACTIVE" as const, "SUSPENDED" as const),
  ratePerSecond: amounts,
});

test("a change or its reversal needs a second operator when a money term differs", () => {
  fc.assert(
    fc.property(terms, terms, (one, other) => {
      const [before, after]: Organisation[] = [
        { ...organisation, ...one },
        { ...organisation, ...other },
      ];
      const differs =
        before!.status !== after!.status || MONEY_TERMS.some((term) => before![term] !== after![term]);
      expect(releasesMoney(before!, after!) || releasesMoney(after!, before!)).toBe(differs);
    }),
  );
});

test.each(MONEY_TERMS)("a higher %s needs a second operator even when the other terms fall", (term) => {
  const low = { ...organisation, maxChargeWon: won(5n), dailyChargeLimitWon: won(5n), incentiveRateBps: 5 };
  const lower = {
    ...low,
    dailyTransferLimitWon: won(1n),
    dailyChargeLimitWon: won(1n),
    maxChargeWon: won(1n),
  };
  const raised = { ...lower, incentiveRateBps: 1, [term]: term === "incentiveRateBps" ? 6 : won(6_000_000n) };
  expect(releasesMoney(low, raised)).toBe(true);
});

test("a suspension and other terms need no second operator, and the end of a suspension does", () => {
  const changed = { ...organisation, status: "SUSPENDED", name: "Other", ratePerSecond: 1_000_000 } as const;
  expect(releasesMoney(organisation, { ...changed, status: "ACTIVE" })).toBe(false);
  expect(releasesMoney(organisation, changed)).toBe(false);
  expect(releasesMoney(changed, organisation)).toBe(true);
});
