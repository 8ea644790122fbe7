import { invalidRequest, type FieldProblem } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { MAX_WON, won, type Won } from "@wonrail/kit/contract/money";
import { plans, type Plan } from "./plans";

export const ORGANISATION_STATUSES = ["ACTIVE", "SUSPENDED"] as const;
export type OrganisationStatus = (typeof ORGANISATION_STATUSES)[number];

export interface Organisation extends OrganisationTerms {
  readonly orgId: Id<"org">;
  readonly code: string;
  readonly version: bigint;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The terms that an operator may change. */
export interface OrganisationTerms {
  readonly name: string;
  readonly status: OrganisationStatus;
  readonly plan: Plan;
  readonly subscriptionStartsAt: Date;
  /** Exclusive. */
  readonly subscriptionEndsAt: Date;
  readonly incentiveRateBps: number;
  /** Per wallet and day of Asia/Seoul. */
  readonly dailyTransferLimitWon: Won;
  /** Limit of all charges of the organisation on one day of Asia/Seoul. */
  readonly dailyChargeLimitWon: Won;
  readonly maxChargeWon: Won;
  readonly ratePerSecond: number;
  readonly rateBurst: number;
}

export interface NewOrganisation extends Partial<OrganisationTerms> {
  name: string;
  code: string;
}

const DEFAULT_SUBSCRIPTION_MS = 365 * 86_400_000;
const DEFAULT_DAILY_TRANSFER_LIMIT = won(5_000_000n);
const CODE = /^[A-Z][A-Z0-9_-]{1,31}$/;
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Co}]+$/u;

export function makeOrganisation(orgId: Id<"org">, input: NewOrganisation, now: Date): Organisation {
  const plan = input.plan ?? "STANDARD";
  const ratePerSecond = input.ratePerSecond ?? plans[plan].ratePerSecond;
  const startsAt = input.subscriptionStartsAt ?? now;
  return checked({
    orgId,
    code: input.code,
    name: input.name,
    status: input.status ?? "ACTIVE",
    plan,
    subscriptionStartsAt: startsAt,
    subscriptionEndsAt: input.subscriptionEndsAt ?? new Date(startsAt.getTime() + DEFAULT_SUBSCRIPTION_MS),
    incentiveRateBps: input.incentiveRateBps ?? 0,
    dailyTransferLimitWon: input.dailyTransferLimitWon ?? DEFAULT_DAILY_TRANSFER_LIMIT,
    dailyChargeLimitWon: input.dailyChargeLimitWon ?? plans[plan].dailyChargeLimitWon,
    maxChargeWon: input.maxChargeWon ?? plans[plan].maxChargeWon,
    ratePerSecond,
    rateBurst: input.rateBurst ?? defaultBurst(ratePerSecond),
    version: 1n,
    createdAt: now,
    updatedAt: now,
  });
}

/**
 * A new plan replaces the old plan's rate and limits of charges; values that the operator set
 * stay. A new rate sets the burst too, unless the change states a burst.
 */
export function changeOrganisation(
  organisation: Organisation,
  change: Partial<OrganisationTerms>,
  now: Date,
): Organisation {
  const hasPlanRate = organisation.ratePerSecond === plans[organisation.plan].ratePerSecond;
  const planRate = hasPlanRate && change.plan !== undefined ? plans[change.plan].ratePerSecond : undefined;
  const newRate = change.ratePerSecond ?? planRate;
  const [oldPlan, newPlan] = [plans[organisation.plan], plans[change.plan ?? organisation.plan]];
  const { dailyChargeLimitWon, maxChargeWon } = newPlan;
  const hasPlanLimit = organisation.dailyChargeLimitWon === oldPlan.dailyChargeLimitWon;
  const hasPlanMax = organisation.maxChargeWon === oldPlan.maxChargeWon;
  return checked({
    ...organisation,
    ...(hasPlanLimit ? { dailyChargeLimitWon } : {}),
    ...(hasPlanMax ? { maxChargeWon } : {}),
    ...(newRate === undefined ? {} : { ratePerSecond: newRate, rateBurst: defaultBurst(newRate) }),
    ...change,
    version: organisation.version + 1n,
    updatedAt: now,
  });
}

export function isSubscriptionActive(organisation: OrganisationTerms, now: Date): boolean {
  return (
    organisation.status === "ACTIVE" &&
    organisation.subscriptionStartsAt <= now &&
    now < organisation.subscriptionEndsAt
  );
}

function defaultBurst(ratePerSecond: number): number {
  return ratePerSecond * 2;
}

function checked(organisation: Organisation): Organisation {
  const problems = problemsOf(organisation);
  if (problems.length > 0) throw invalidRequest(problems);
  return organisation;
}

function problemsOf(organisation: Organisation): FieldProblem[] {
  const { code, name, incentiveRateBps } = organisation;
  const { dailyTransferLimitWon: daily, dailyChargeLimitWon: charges, maxChargeWon } = organisation;
  const { subscriptionStartsAt, subscriptionEndsAt, ratePerSecond, rateBurst } = organisation;
  const rules: [boolean, string, string][] = [
    [CODE.test(code), "code", "must be 2 to 32 characters of A-Z, 0-9, _ and -, the first a letter"],
    [name.length <= 100 && PRINTABLE.test(name), "name", "must be 1 to 100 printable characters"],
    [isDate(subscriptionStartsAt), "subscriptionStarts", "must be a date"],
    [isDate(subscriptionEndsAt), "subscriptionEnds", "must be a date"],
    [
      !(subscriptionEndsAt <= subscriptionStartsAt),
      "subscriptionEnds",
      "must be after the subscription's start",
    ],
    [isWithin(incentiveRateBps, 0, 10_000), "incentiveBps", "must be a whole number from 0 to 10000"],
    [isAmount(daily), "dailyLimit", `must be a whole number of KRW from 0 to ${MAX_WON}`],
    [isAmount(charges), "dailyChargeLimit", `must be a whole number of KRW from 0 to ${MAX_WON}`],
    [isAmount(maxChargeWon), "maxCharge", `must be a whole number of KRW from 0 to ${MAX_WON}`],
    [isWithin(ratePerSecond, 1, 1_000_000), "rate", "must be a whole number from 1 to 1000000"],
    [isWithin(rateBurst, 1, 2_000_000), "burst", "must be a whole number from 1 to 2000000"],
  ];
  return rules.flatMap(([holds, path, message]) => (holds ? [] : [{ path, message }]));
}

function isDate(date: Date): boolean {
  return !Number.isNaN(date.getTime());
}

function isAmount(amount: bigint): boolean {
  return amount >= 0n && amount <= MAX_WON;
}

function isWithin(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}
