import { MAX_MESSAGE_BYTES } from "../bus/port";
import { currentContext } from "../context";
import { afterCommit, named, sql, type Tx } from "../db";
import { assert } from "../contract/errors";
import { hexOf, newId } from "../contract/ids";
import { ringOutbox } from "./doorbell";
import type { NewEvent } from "./events";

/** Leaves room for the key and the headers beside the payload. */
const MAX_PAYLOAD_BYTES = MAX_MESSAGE_BYTES - 16 * 1024;

/**
 * Writes the events in the caller's transaction. If the caller holds the aggregate's row lock, the
 * aggregate's events get their numbers in the order of these calls.
 */
export async function appendEvents(tx: Tx, events: NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  for (const { type, payload } of events) {
    assert(
      payload.length <= MAX_PAYLOAD_BYTES,
      `the payload of a ${type} is larger than a Kafka message may be`,
    );
  }
  const context = currentContext();
  tx.push(
    named(
      "outbox_append",
      sql`
        with appended as (
          insert into outbox (event_id, topic, type, aggregate_id, version, org_id, request_id, traceparent, payload)
          select event_id, topic, type, aggregate_id, version, org_id, request_id, traceparent, payload
          from unnest(
            ${events.map(({ eventId }) => hexOf(eventId ?? newId("evt")))}::uuid[],
            ${events.map(({ topic }) => topic)}::text[],
            ${events.map(({ type }) => type)}::text[],
            ${events.map(({ aggregateId }) => aggregateId)}::text[],
            ${events.map(({ version }) => version)}::bigint[],
            ${events.map(({ orgId }) => orgId)}::text[],
            ${events.map(({ requestId }) => requestId ?? context?.requestId ?? "")}::text[],
            ${events.map(({ traceparent }) => traceparent ?? context?.traceparent ?? "")}::text[],
            ${events.map(({ payload }) => payload)}::bytea[]
          ) with ordinality
            as event (event_id, topic, type, aggregate_id, version, org_id, request_id, traceparent, payload, position)
          order by position
          returning id
        )
        insert into outbox_pending (id) select id from appended`,
    ),
  );
  afterCommit(tx, ringOutbox);
}
