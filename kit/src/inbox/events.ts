import type { Tx } from "../db";
import { isId, type Id } from "../contract/ids";
import type { FeedMessage } from "./planBatch";

/** An event for a handler. Its payload is the protobuf message that the type names. */
export interface ReceivedEvent {
  id: Id<"evt">;
  type: string;
  topic: string;
  aggregateId: string;
  version: bigint;
  occurredAt: Date;
  orgId: string;
  traceparent: string;
  requestId: string;
  payload: Buffer;
}

/** Every effect uses the transaction, so it happens once for any number of deliveries. */
export type EventHandler = (tx: Tx, event: ReceivedEvent) => Promise<void>;

/** Handles consecutive events of a batch at once, in order. */
export interface BulkHandler {
  all(tx: Tx, events: ReceivedEvent[]): Promise<void>;
}

export interface ConsumerSpec {
  group: string;
  /** The feeds to read. The service names their producers in `feeds` of its spec. */
  topics: string[];
  /** By event type. Types that are not here are skipped and counted. */
  handlers: Record<string, EventHandler | BulkHandler>;
}

/** The message is not an event of this product. It becomes a dead letter at once: a retry cannot help. */
export class MalformedEventError extends Error {
  override readonly name = "MalformedEventError";
}

export function decodeEvent({ topic, headers, value }: EncodedEvent): ReceivedEvent {
  const {
    event_id: id,
    event_type: type,
    aggregate_id: aggregateId,
    version,
    occurred_at: occurredAt,
  } = headers;
  if (!isId("evt", id)) throw malformed("event_id");
  if (type === undefined || !/^[a-z][a-z0-9_]{0,99}$/.test(type)) throw malformed("event_type");
  if (aggregateId === undefined || aggregateId === "") throw malformed("aggregate_id");
  if (version === undefined || !/^\d{1,18}$/.test(version)) throw malformed("version");
  const occurredAtDate = new Date(occurredAt ?? "");
  if (Number.isNaN(occurredAtDate.getTime())) throw malformed("occurred_at");
  return {
    id,
    type,
    topic,
    aggregateId,
    version: BigInt(version),
    occurredAt: occurredAtDate,
    orgId: headers.org_id ?? "",
    traceparent: headers.traceparent ?? "",
    requestId: headers.request_id ?? "",
    payload: value,
  };
}

export type EncodedEvent = Pick<FeedMessage, "topic" | "headers" | "value">;

function malformed(header: string): MalformedEventError {
  return new MalformedEventError(`the header ${header} is absent or malformed`);
}
