import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { MAX_WON, won } from "@wonrail/kit/contract/money";
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

const CODE_RULE = "must be 2 to 32 characters of A-Z, 0-9, _ and -, the first a letter";
const NAME_RULE = "must be 1 to 100 printable characters";
const AMOUNT_RULE = `must be a whole number of KRW from 0 to ${MAX_WON}`;
type Refused = [input: Partial<NewOrganisation>, path: string, message: string];
const SOON = new Date("soon");

test.each<Refused>([
  ...["x", "lower", "1A", "AB c", "A".repeat(33)].map((code): Refused => [{ code }, "code", CODE_RULE]),
  ...["", "a\nb", "\ud800", "n".repeat(101)].map((name): Refused => [{ name }, "name", NAME_RULE]),
  [{ subscriptionStartsAt: SOON, subscriptionEndsAt: now }, "subscriptionStarts", "must be a date"],
  [{ subscriptionEndsAt: SOON }, "subscriptionEnds", "must be a date"],
  [{ subscriptionEndsAt: now }, "subscriptionEnds", "must be after the subscription's start"],
  ...[-1, 0.5, 10_001].map((incentiveRateBps): Refused => [
    { incentiveRateBps },
    "incentiveBps",
    "must be a whole number from 0 to 10000",
  ]),
  ...[won(-1n), won(MAX_WON + 1n)].flatMap((amount): Refused[] => [
    [{ dailyTransferLimitWon: amount }, "dailyLimit", AMOUNT_RULE],
    [{ dailyChargeLimitWon: amount }, "dailyChargeLimit", AMOUNT_RULE],
    [{ maxChargeWon: amount }, "maxCharge", AMOUNT_RULE],
  ]),
  [{ ratePerSecond: 0, rateBurst: 1 }, "rate", "must be a whole number from 1 to 1000000"],
  [{ ratePerSecond: 1_000_001, rateBurst: 1 }, "rate", "must be a whole number from 1 to 1000000"],
  [{ rateBurst: 0 }, "burst", "must be a whole number from 1 to 2000000"],
  [{ rateBurst: 2_000_001 }, "burst", "must be a whole number from 1 to 2000000"],
])("refuses %j, and says how to correct the field", (input, path, message) => {
  const { code, details } = refusalOf(() => make(input));
  expect([code, details]).toEqual(["REQ_001", { fields: [{ path, message }] }]);
});

test.each<Partial<NewOrganisation>>([
  ...[
    { code: "A1" },
    { code: `A${"_".repeat(31)}` },
    { name: "n".repeat(100) },
    { incentiveRateBps: 10_000 },
  ],
  ...[{ dailyTransferLimitWon: won(0n) }, { maxChargeWon: MAX_WON }],
  ...[
    { ratePerSecond: 1, rateBurst: 1 },
    { ratePerSecond: 1_000_000, rateBurst: 2_000_000 },
  ],
])("accepts the bounds (%#)", (input) => {
  expect(make(input)).toMatchObject(input);
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
