/** An event as a service writes it down. `version` grows by one with every event of the aggregate. */
export interface NewEvent {
  topic: string;
  /** The payload's message name in snake_case. */
  type: string;
  aggregateId: string;
  version: bigint | number;
  orgId: string;
  payload: Uint8Array;
  /** Which request it comes from; the current context's unless stated, as it must be where many requests are decided in one batch. */
  requestId?: string;
  traceparent?: string;
}
