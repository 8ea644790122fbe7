import { type EventEnvelope } from "@wonrail/proto/common/v1/common";
import type { Queryable } from "../db";
import { uuidToId } from "../contract/ids";
import { listPublished, type OutboxRow } from "./store";

/** Longer than any transaction may take, and than the bus and a consumer that is well need for an event. */
const QUIET_MS = 5 * 60_000;
/** A call of so many is well below what a client takes. */
const AT_ONCE = 200;

/**
 * What this service has given to the bus, for another that looks for what the bus has not brought. Of a service whose rows stand for one event each: what
 * a relay would expand is not.
 */
export async function listEvents(
  db: Queryable,
  after: bigint,
): Promise<{ events: EventEnvelope[]; position: bigint }> {
  const { rows, position } = await listPublished(db, after, QUIET_MS, AT_ONCE);
  return { events: rows.map(toEnvelope), position };
}

function toEnvelope(row: OutboxRow): EventEnvelope {
  return {
    eventId: uuidToId("evt", row.event_id),
    eventType: row.type,
    aggregateId: row.aggregate_id,
    version: row.version,
    occurredAt: row.occurred_at,
    orgId: row.org_id,
    traceparent: row.traceparent,
    requestId: row.request_id,
    payload: row.payload,
  };
}
