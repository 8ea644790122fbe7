/** The public events. A name is API: never rename or reuse one. */
export const EVENT_TYPES = [
  "wallet.created",
  "wallet.updated",
  "wallet.deactivated",
  "wallet.frozen",
  "charge.created",
  "charge.cancelled",
  "refund.created",
  "transfer.created",
  "transfer.completed",
  "transfer.failed",
  "payment.created",
  "payment.cancelled",
  "payment.refunded",
  "payout.created",
  "payout.progressed",
  "payout.completed",
  "settlement.confirmed",
  "settlement.failed",
  "deposit.credited",
  "transaction.status_changed",
  "api_key.issued",
  "api_key.expiring",
  "webhook.failing",
  "webhook.disabled",
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}
