import { type NewEvent } from "@wonrail/kit/outbox";
import { RecordChanged } from "@wonrail/proto/relayer/events/v1/events";
import { TOPIC } from "../events";
import { type RecordChange, type TransactionRecord } from "./domain/record";
import { recordMessage } from "./messages";

/** Carries the present record, and the change of its state that caused this event. Metadata has no history. */
export function recordChanged(record: TransactionRecord, change: RecordChange | null): NewEvent {
  const { orgId, recordId, version, requestId, traceparent } = record;
  const payload = RecordChanged.encode({ record: recordMessage(record, change ? [change] : []) }).finish();
  const of = { aggregateId: recordId, version, orgId, requestId, traceparent };
  return { topic: TOPIC, type: "record_changed", payload, ...of };
}
