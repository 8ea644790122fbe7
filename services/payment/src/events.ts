import { type NewEvent } from "@wonrail/kit/outbox";
import {
  MetadataChanged,
  PayoutCompleted,
  PayoutCreated,
  PayoutProgressed,
} from "@wonrail/proto/payment/events/v1/events";
import { payoutMessage } from "./queries/payoutMessages";
import { type ObjectMetadata } from "./store/changedMetadata";
import { type Payout } from "./store/payouts";

const TOPIC = "wonrail.payment.v1";

/** Every event of this service goes to this topic. */
export const TOPICS = [{ name: TOPIC, partitions: 6 }];

export function metadataChanged(
  orgId: string,
  objectId: string,
  { metadata, version }: ObjectMetadata,
): NewEvent {
  const payload = MetadataChanged.encode({ objectId, metadata }).finish();
  return { topic: TOPIC, type: "metadata_changed", aggregateId: objectId, version, orgId, payload };
}

export function payoutCreated(payout: Payout): NewEvent {
  const payload = PayoutCreated.encode({ payout: payoutMessage(payout) }).finish();
  return payoutEvent("payout_created", 1n, payout, payload);
}

/** More rows have their outcome: a part of the rows, or all. */
export function payoutAdvanced(payout: Payout): NewEvent {
  const { acceptedCount, refusedCount, skippedCount } = payout;
  const version = BigInt(1 + acceptedCount + refusedCount + skippedCount);
  const message = { payout: payoutMessage(payout) };
  return payout.status === "PENDING"
    ? payoutEvent("payout_progressed", version, payout, PayoutProgressed.encode(message).finish())
    : payoutEvent("payout_completed", version, payout, PayoutCompleted.encode(message).finish());
}

function payoutEvent(
  type: string,
  version: bigint,
  { orgId, payoutId }: Payout,
  payload: Uint8Array,
): NewEvent {
  return { topic: TOPIC, type, aggregateId: payoutId, version, orgId, payload };
}
