import type { Id } from "../contract/ids";

/** An event to store. `version` grows by one with every event of the aggregate. */
export interface NewEvent {
  /** Only of an event that a restored service appends again: consumers that know it skip it. */
  eventId?: Id<"evt">;
  topic: string;
  /** The payload's message name in snake_case. */
  type: string;
  aggregateId: string;
  version: bigint | number;
  orgId: string;
  payload: Uint8Array;
  /**
   * The causing request; default: the current context's. Set it where one batch decides many
   * requests.
   */
  requestId?: string;
  traceparent?: string;
}
