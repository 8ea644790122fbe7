import { type Queryable } from "@wonrail/kit/db";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import { monthsAgoInSeoul, type Period, periodOf } from "../domain/periods";
import { QUOTAS, type Quota, quotaLimit } from "../domain/plans";
import { listMonthlyUsages, listQuotaUsages, type UsageOfMonth } from "../store/quotaUsages";
import { mustFindOrganisation, mustFindOrganisationById } from "./findOrganisation";

/** The use of one of the plan's limits in its present period. */
export interface Usage {
  quota: Quota;
  limit: bigint;
  used: bigint;
  leased: bigint;
  period: Period;
}

export async function getUsage(
  db: Queryable,
  { orgId, plan }: Pick<Organisation, "orgId" | "plan">,
  now: Date,
): Promise<Usage[]> {
  const periods = QUOTAS.map((quota) => ({ quota, period: periodOf(quota, now) }));
  const stored = await listQuotaUsages(db, orgId, [...new Set(periods.map(({ period }) => period.name))]);
  return periods.map(({ quota, period }) => {
    const row = stored.find((usage) => usage.quota === quota && usage.period === period.name);
    const limit = quotaLimit(plan, quota);
    return { quota, limit, used: row?.usage.spent ?? 0n, leased: row?.usage.leased ?? 0n, period };
  });
}

export interface OrganisationDetails {
  organisation: Organisation;
  subscriptionActive: boolean;
  usage: Usage[];
  /** The last months, oldest first. */
  months: UsageOfMonth[];
}

const MONTHS_SHOWN = 13;

/** An organisation with the usage of its plan, for operators. */
export async function getOrganisationDetails(
  { db }: { db: Queryable },
  by: { orgId: string } | { code: string },
): Promise<OrganisationDetails> {
  const { organisation, now } =
    "code" in by ? await mustFindOrganisation(db, by.code) : await mustFindOrganisationById(db, by.orgId);
  return {
    organisation,
    subscriptionActive: isSubscriptionActive(organisation, now),
    usage: await getUsage(db, organisation, now),
    months: await listMonthlyUsages(db, organisation.orgId, monthsAgoInSeoul(now, MONTHS_SHOWN - 1)),
  };
}
