import { type Queryable } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
import { findAttempts } from "../store/attempts";
import { type DeliveryToUrl, listDeliveriesOfEvents } from "../store/deliveries";
import { type DeliveryWithAttempts } from "./listDeliveries";

export type EventDelivery = DeliveryToUrl & DeliveryWithAttempts;

/** The deliveries of events with their attempts, by event. */
export async function listEventDeliveries(
  db: Queryable,
  orgId: string,
  eventIds: string[],
): Promise<Map<string, EventDelivery[]>> {
  const deliveries = await listDeliveriesOfEvents(db, orgId, eventIds);
  const found: EventDelivery[] = [];
  for (const ofWebhook of groupBy(deliveries, ({ webhookId }) => webhookId).values()) {
    const attempts = await findAttempts(db, ofWebhook);
    found.push(...ofWebhook.map((each) => ({ ...each, tries: attempts.get(each.deliveryId) ?? [] })));
  }
  return groupBy(found, ({ eventId }) => eventId);
}
