import { assert } from "@wonrail/kit/contract/errors";
import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { requirePresent } from "@wonrail/kit/records";
import { PayoutCompleted, PayoutCreated } from "@wonrail/proto/payment/events/v1/events";
import { type Change } from "../domain/change";
import { payoutChange } from "../domain/payouts";
import { publishChanges } from "./publishChanges";

/** Publishes what happened to payouts. */
export async function projectPayouts(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  await publishChanges(tx, events, () => events.map(changeOf));
}

function changeOf({ id: sourceId, orgId, occurredAt, type, payload }: ReceivedEvent): Change {
  const source = { sourceId, orgId, occurredAt };
  if (type === "payout_created")
    return payoutChange(source, requirePresent(PayoutCreated.decode(payload).payout), "payout.created");
  assert(type === "payout_completed", `${type} has no public event`);
  return payoutChange(source, requirePresent(PayoutCompleted.decode(payload).payout), "payout.completed");
}
