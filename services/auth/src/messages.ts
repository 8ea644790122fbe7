import { formatWon } from "@wonrail/kit/contract/money";
import * as message from "@wonrail/proto/auth/v1/auth";
import { type Organisation } from "./domain/organisations";

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
