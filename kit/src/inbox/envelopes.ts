import { type EventEnvelope } from "@wonrail/proto/common/v1/common";
import type { ReceivedMessage } from "../bus/port";
import type { Tx } from "../db";
import { assert } from "../contract/errors";
import type { Registry } from "../metrics";
import { consumerMetrics } from "./consumerMetrics";
import type { ReceivedEvent } from "./events";
import { insertDeadLetter } from "./store";

/** An event as it is kept, or given from one service to another without the bus. */
export function envelopeOf(event: ReceivedEvent): EventEnvelope {
  const { id, type, aggregateId, version, occurredAt, orgId, traceparent, requestId, payload } = event;
  return {
    ...{ eventId: id, eventType: type, aggregateId, version, occurredAt },
    ...{ orgId, traceparent, requestId, payload },
  };
}

/** Puts aside what the group had taken, and turns out not to be able to work on. */
export function buryEvent(
  tx: Tx,
  group: string,
  topic: string,
  envelope: EventEnvelope,
  error: unknown,
): Promise<void> {
  return insertDeadLetter(tx, group, toMessage(topic, envelope), error);
}

/** Of those that were buried, once that is committed: somebody has to hear of them. */
export function countBuried(registry: Registry, group: string, topic: string, count: number): void {
  consumerMetrics(registry, group).count(topic, "dead", count);
}

/** As the outbox gives it to the bus; it has no place there. */
export function toMessage(topic: string, envelope: EventEnvelope): ReceivedMessage {
  const { eventId, eventType, aggregateId, version, occurredAt, orgId, traceparent, requestId, payload } =
    envelope;
  assert(occurredAt, `${eventId} has a time`);
  return {
    topic,
    partition: -1,
    offset: "",
    timestampMs: occurredAt.getTime(),
    key: aggregateId,
    value: Buffer.from(payload),
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
