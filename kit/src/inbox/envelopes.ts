import { type EventEnvelope } from "@wonrail/proto/common/v1/common";
import type { Tx } from "../db";
import { assert } from "../contract/errors";
import type { Registry } from "../metrics";
import { consumerMetrics } from "./consumerMetrics";
import type { ReceivedEvent } from "./events";
import type { FeedMessage } from "./planBatch";
import { insertDeadLetter } from "./store";

/** An event in the form that a service stores for later. */
export function envelopeOf(event: ReceivedEvent): EventEnvelope {
  const { id, type, aggregateId, version, occurredAt, orgId, traceparent, requestId, payload } = event;
  return {
    ...{ eventId: id, eventType: type, aggregateId, version, occurredAt },
    ...{ orgId, traceparent, requestId, payload },
  };
}

/** Makes a dead letter of an event that the group took and cannot handle. */
export function buryEvent(
  tx: Tx,
  group: string,
  topic: string,
  envelope: EventEnvelope,
  error: unknown,
): Promise<void> {
  const place = { topic, partition: -1, number: null };
  return insertDeadLetter(tx, group, { ...place, ...contentOf(envelope) }, error);
}

/** Counts new dead letters. Call it after the commit. */
export function countBuried(registry: Registry, group: string, topic: string, count: number): void {
  consumerMetrics(registry, group).count(topic, "dead", count);
}

/** A feed's event in the consumer's form, with the headers of a Kafka message. */
export function toMessage({
  topic,
  partition,
  number,
  envelope,
}: {
  topic: string;
  partition: number;
  number: bigint;
  envelope: EventEnvelope;
}): FeedMessage {
  return { topic, partition, number, ...contentOf(envelope) };
}

function contentOf(envelope: EventEnvelope): Pick<FeedMessage, "key" | "headers" | "value"> {
  const { eventId, eventType, aggregateId, version, occurredAt, orgId, traceparent, requestId, payload } =
    envelope;
  assert(occurredAt, `${eventId} has a time`);
  return {
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
