import { type EventType } from "../../feed";

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

export type DisabledReason = "REQUESTED" | "GONE" | "FAILING";

/** A webhook as a read of it answers. */
export function webhookJson(webhook: Webhook) {
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
