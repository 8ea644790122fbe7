import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { won } from "@wonrail/kit/contract/money";
import {
  changeOrganisation,
  isSubscriptionActive,
  makeOrganisation,
  type NewOrganisation,
} from "./organisations";

const now = new Date("2025-11-21T00:00:00Z");
const make = (input: Partial<NewOrganisation> = {}) =>
  makeOrganisation(newId("org"), { name: "First Bank", code: "FIRST", ...input }, now);

test("a new organisation gets its plan's values and the defaults", () => {
  expect(make()).toMatchObject({
    status: "ACTIVE",
    plan: "STANDARD",
    subscriptionStartsAt: now,
    subscriptionEndsAt: new Date("2026-11-21T00:00:00Z"),
    incentiveRateBps: 0,
    dailyTransferLimitWon: 5_000_000n,
    dailyChargeLimitWon: 1_000_000_000n,
    maxChargeWon: 100_000_000n,
    ratePerSecond: 100,
    rateBurst: 200,
    version: 1n,
  });
  expect(make({ plan: "FREE" })).toMatchObject({ ratePerSecond: 10, rateBurst: 20 });
  expect(make({ ratePerSecond: 7 })).toMatchObject({ ratePerSecond: 7, rateBurst: 14 });
});

test.each<[Partial<NewOrganisation>, string]>([
  [{ code: "x" }, "code"],
  [{ code: "lower" }, "code"],
  [{ code: "A".repeat(33) }, "code"],
  [{ name: "" }, "name"],
  [{ name: "a\nb" }, "name"],
  [{ name: "\ud800" }, "name"],
  [{ incentiveRateBps: 10_001 }, "incentiveBps"],
  [{ incentiveRateBps: 0.5 }, "incentiveBps"],
  [{ dailyTransferLimitWon: won(-1n) }, "dailyLimit"],
  [{ dailyChargeLimitWon: won(-1n) }, "dailyChargeLimit"],
  [{ maxChargeWon: won(-1n) }, "maxCharge"],
  [{ ratePerSecond: 0 }, "rate"],
  [{ rateBurst: 0 }, "burst"],
  [{ subscriptionEndsAt: now }, "subscriptionEnds"],
  [{ subscriptionEndsAt: new Date("soon") }, "subscriptionEnds"],
])("refuses %j and names the field", (input, field) => {
  const refusal = refusalOf(() => make(input));
  expect(refusal.code).toBe("REQ_001");
  expect(JSON.stringify(refusal.details)).toContain(`"path":"${field}"`);
});

test("a new plan replaces the old plan's charge limit and leaves an agreed limit", () => {
  const enterprise = { plan: "ENTERPRISE" } as const;
  expect(changeOrganisation(make(), enterprise, now).dailyChargeLimitWon).toBe(100_000_000_000n);
  expect(changeOrganisation(make(), enterprise, now).maxChargeWon).toBe(10_000_000_000n);
  expect(changeOrganisation(make({ maxChargeWon: won(5n) }), enterprise, now).maxChargeWon).toBe(5n);
  const agreed = make({ dailyChargeLimitWon: won(7n) });
  expect(changeOrganisation(agreed, enterprise, now).dailyChargeLimitWon).toBe(7n);
  expect(changeOrganisation(make(), { dailyChargeLimitWon: won(8n) }, now).dailyChargeLimitWon).toBe(8n);
});

test("a new plan replaces the old plan's rate and leaves an agreed rate", () => {
  expect(changeOrganisation(make(), { plan: "ENTERPRISE" }, now)).toMatchObject({
    ratePerSecond: 2_000,
    rateBurst: 4_000,
  });
  const agreed = make({ ratePerSecond: 300 });
  expect(changeOrganisation(agreed, { plan: "ENTERPRISE" }, now)).toMatchObject({
    ratePerSecond: 300,
    rateBurst: 600,
  });
  expect(changeOrganisation(agreed, { ratePerSecond: 5 }, now)).toMatchObject({
    ratePerSecond: 5,
    rateBurst: 10,
  });
  expect(changeOrganisation(agreed, { rateBurst: 900 }, now)).toMatchObject({
    ratePerSecond: 300,
    rateBurst: 900,
  });
});

test("every change is a new version", () => {
  const later = new Date("2025-11-22T00:00:00Z");
  expect(changeOrganisation(make(), { name: "Second" }, later)).toMatchObject({
    version: 2n,
    updatedAt: later,
  });
});

test("a subscription is active from its start until just before its end, and not while suspended", () => {
  const ends = new Date("2025-12-01T00:00:00Z");
  const organisation = make({ subscriptionEndsAt: ends });
  expect(isSubscriptionActive(organisation, new Date(now.getTime() - 1))).toBe(false);
  expect(isSubscriptionActive(organisation, now)).toBe(true);
  expect(isSubscriptionActive(organisation, new Date(ends.getTime() - 1))).toBe(true);
  expect(isSubscriptionActive(organisation, ends)).toBe(false);
  expect(isSubscriptionActive({ ...organisation, status: "SUSPENDED" }, now)).toBe(false);
});

function refusalOf(work: () => unknown): DomainError {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}
