import { type EventType } from "@wonrail/kit/contract/eventTypes";
import { payoutJson } from "@wonrail/kit/records";
import { type Payout } from "@wonrail/proto/payment/v1/payment";
import { type Change } from "./change";

/** A payout was made or has ended. Its rows are transfers with events of their own. */
export function payoutChange(
  source: Pick<Change, "orgId" | "sourceId" | "occurredAt">,
  payout: Payout,
  type: EventType,
): Change {
  const data = payoutJson(payout);
  return {
    ...source,
    ...{ objectId: payout.payoutId, types: [type] },
    apply: () => ({ data, failureReason: null }),
  };
}
