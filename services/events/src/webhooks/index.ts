// Events pushed to endpoints of partners. Reads the feed's tables to make and fill deliveries; the feed does not know it.
export { createWebhooks } from "./createWebhooks";
export { type WebhookChange } from "./commands/updateWebhook";
export { type ReplayWanted } from "./commands/replayWebhook";
export { type Webhook } from "./domain/webhook";
export { type DeliveryWithAttempts } from "./queries/listDeliveries";
export { type Delivery } from "./store/deliveries";
