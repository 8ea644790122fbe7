import { formatWon } from "@wonrail/kit/contract/money";
import * as message from "@wonrail/proto/auth/v1/auth";
import { type ApiKey, statusOf } from "./domain/keys";
import { type Organisation } from "./domain/organisations";
import { type Usage } from "./queries/getUsage";

/** Converts domain objects to messages. Answers and events use the same messages. */

export function organisationMessage(organisation: Organisation): message.Organisation {
  const { dailyTransferLimitWon, dailyChargeLimitWon, maxChargeWon, status, plan, ...rest } = organisation;
  return {
    ...rest,
    status: message.OrganisationStatus[status],
    plan: message.Plan[plan],
    dailyTransferLimitWon: formatWon(dailyTransferLimitWon),
    dailyChargeLimitWon: formatWon(dailyChargeLimitWon),
    maxChargeWon: formatWon(maxChargeWon),
  };
}

export function usageMessage({ quota, limit, used, leased, period }: Usage): message.QuotaUsage {
  return { quota: message.Quota[quota], limit, used, leased, resetsAt: period.resetsAt };
}

export function keyMessage(key: ApiKey, now: Date): message.ApiKey {
  return {
    keyId: key.keyId,
    prefix: key.prefix,
    name: key.name,
    scopes: [...key.scopes],
    allowedAddresses: [...key.allowedAddresses],
    apiVersion: key.apiVersion,
    status: message.KeyStatus[statusOf(key, now)],
    predecessorKeyId: key.predecessorId ?? undefined,
    issuedAt: key.issuedAt,
    expiresAt: key.expiresAt,
    overlapEndsAt: key.overlapEndsAt ?? undefined,
    revokedAt: key.revokedAt ?? undefined,
    lastUsedAt: key.lastUsedAt ?? undefined,
  };
}
