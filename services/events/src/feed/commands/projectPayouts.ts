import { assert } from "@wonrail/kit/contract/errors";
import { type EventType } from "@wonrail/kit/contract/eventTypes";
import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { requirePresent } from "@wonrail/kit/records";
import { PayoutCompleted, PayoutCreated, PayoutProgressed } from "@wonrail/proto/payment/events/v1/events";
import { type Change } from "../domain/change";
import { payoutChange } from "../domain/payouts";
import { publishChanges } from "./publishChanges";

/** Publishes what happened to payouts. */
export async function projectPayouts(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  await publishChanges(tx, events, () => events.map(changeOf));
}

function changeOf({ id: sourceId, orgId, occurredAt, type, payload }: ReceivedEvent): Change {
  const published = PUBLISHED[type];
  assert(published, `${type} has no public event`);
  const payout = requirePresent(published.message.decode(payload).payout);
  return payoutChange({ sourceId, orgId, occurredAt }, payout, published.type);
}

const PUBLISHED: Record<string, { message: { decode(bytes: Uint8Array): PayoutEvent }; type: EventType }> = {
  payout_created: { message: PayoutCreated, type: "payout.created" },
  payout_progressed: { message: PayoutProgressed, type: "payout.progressed" },
  payout_completed: { message: PayoutCompleted, type: "payout.completed" },
};

type PayoutEvent = PayoutCreated | PayoutProgressed | PayoutCompleted;
