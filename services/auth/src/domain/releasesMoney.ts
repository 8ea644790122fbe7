import { type OrganisationTerms } from "./organisations";

/** Terms that let more money move when they grow. */
export const MONEY_TERMS = [
  "dailyTransferLimitWon",
  "dailyChargeLimitWon",
  "maxChargeWon",
  "incentiveRateBps",
] as const satisfies readonly (keyof OrganisationTerms)[];

/** A change that raises a limit of money, or ends a suspension, needs a second operator. */
export function releasesMoney(before: OrganisationTerms, after: OrganisationTerms): boolean {
  const endsSuspension = before.status === "SUSPENDED" && after.status === "ACTIVE";
  return endsSuspension || MONEY_TERMS.some((term) => after[term] > before[term]);
}
