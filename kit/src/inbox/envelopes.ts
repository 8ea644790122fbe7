import { type EventEnvelope } from "@wonrail/proto/common/v1/common";
import { assert } from "../contract/errors";
import type { FeedMessage } from "./planBatch";

interface FeedEvent {
  topic: string;
  partition: number;
  number: bigint;
  envelope: EventEnvelope;
}

/** An event of a feed as the consumer handles it. The headers are those of the Kafka message. */
export function toMessage({ envelope, ...place }: FeedEvent): FeedMessage {
  const { eventId, eventType, aggregateId, version, occurredAt, orgId, traceparent, requestId, payload } =
    envelope;
  assert(occurredAt, `${eventId} has a time`);
  return {
    ...place,
    key: aggregateId,
    value: Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength),
    headers: {
      event_id: eventId,
      event_type: eventType,
      aggregate_id: aggregateId,
      version: version.toString(),
      occurred_at: occurredAt.toISOString(),
      org_id: orgId,
      traceparent,
      request_id: requestId,
    },
  };
}
