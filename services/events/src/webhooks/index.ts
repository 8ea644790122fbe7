// Events pushed to endpoints of partners. Reads the feed's tables to make and fill deliveries; the feed does not know it.
export { createWebhooks } from "./createWebhooks";
export { disableWebhook } from "./commands/disableWebhook";
export { replayForOperator, type ReplayWanted } from "./commands/replayWebhook";
export { enableWebhook } from "./commands/updateWebhook";
export { listDeliveries, type DeliveryWithAttempts } from "./queries/listDeliveries";
export { type EventDelivery, listEventDeliveries } from "./queries/listEventDeliveries";
export {
  findOwner,
  findWebhook,
  listWebhookViews,
  readOverview,
  type WebhookView,
} from "./store/operatorViews";
export { type WebhookChange } from "./commands/updateWebhook";
export { type Webhook } from "./domain/webhook";
export { type Delivery } from "./store/deliveries";
