import { type Change, type EventType } from "../../feed";

export interface Webhook {
  orgId: string;
  webhookId: string;
  url: string;
  /** Empty: all types. */
  eventTypes: EventType[];
  description: string;
  status: "ENABLED" | "DISABLED";
  disabledReason: DisabledReason | null;
  ordering: "NONE" | "OBJECT";
  /** Deliveries were made of the events up to this sequence. */
  afterSequence: bigint;
  failingSince: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export type DisabledReason = "REQUESTED" | "GONE" | "FAILING" | "OPERATOR";

/** A webhook as a read of it answers. */
function webhookJson(webhook: Webhook) {
  return {
    webhookId: webhook.webhookId,
    url: webhook.url,
    eventTypes: webhook.eventTypes,
    description: webhook.description,
    status: webhook.status,
    disabledReason: webhook.disabledReason,
    ordering: webhook.ordering,
    failingSince: webhook.failingSince?.toISOString() ?? null,
    createdAt: webhook.createdAt.toISOString(),
    updatedAt: webhook.updatedAt.toISOString(),
  };
}

/** The public event of a webhook. */
export function webhookChange(webhook: Webhook, type: EventType, sourceId: string): Change {
  return {
    ...{ orgId: webhook.orgId, objectId: webhook.webhookId, sourceId, occurredAt: new Date() },
    types: [type],
    apply: () => ({ data: webhookJson(webhook), failureReason: null }),
  };
}
