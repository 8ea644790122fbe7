import { DomainError } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type Deps } from "../app";
import { type ApiKey } from "../domain/keys";
import { isSubscriptionActive, type Organisation } from "../domain/organisations";
import { periodOf, type Period } from "../domain/periods";
import { QUOTAS, quotaLimit, type Quota } from "../domain/plans";
import { findApiKey } from "../store/apiKeys";
import { findOrganisation } from "../store/organisations";
import { listQuotaUsages } from "../store/quotaUsages";

export interface Session {
  organisation: Organisation;
  key: ApiKey;
  subscriptionActive: boolean;
  usage: { quota: Quota; limit: bigint; used: bigint; leased: bigint; period: Period }[];
}

/** What an organisation sees about itself. */
export async function getSession(
  { db }: Deps,
  input: { orgId: Id<"org">; keyId: Id<"key"> },
): Promise<Session> {
  const { orgId, keyId } = input;
  const found = await findOrganisation(db, orgId);
  const key = found && (await findApiKey(db, orgId, keyId));
  if (!key) throw new DomainError("WAUTH_001");
  const { organisation, now } = found;
  const periods = QUOTAS.map((quota) => ({ quota, period: periodOf(quota, now) }));
  const stored = await listQuotaUsages(db, orgId, [...new Set(periods.map(({ period }) => period.name))]);
  const usage = periods.map(({ quota, period }) => {
    const row = stored.find((usage) => usage.quota === quota && usage.period === period.name);
    const limit = quotaLimit(organisation.plan, quota);
    return { quota, limit, used: row?.usage.spent ?? 0n, leased: row?.usage.leased ?? 0n, period };
  });
  return { organisation, key, subscriptionActive: isSubscriptionActive(organisation, now), usage };
}
