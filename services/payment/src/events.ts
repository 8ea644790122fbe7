import { type NewEvent } from "@wonrail/kit/outbox";
import { MetadataChanged } from "@wonrail/proto/payment/events/v1/events";
import { type ObjectMetadata } from "./store/changedMetadata";

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
