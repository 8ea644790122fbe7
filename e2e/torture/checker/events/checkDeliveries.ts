import { type Delivery } from "../../history";
import { type PublicEvent } from "../api";
import { type Violation } from "../violation";

export interface WebhookFacts {
  /** The organisation's code. */
  organisation: string;
  webhookId: string;
  /** Empty: all types. */
  eventTypes: string[];
  ordering: "NONE" | "OBJECT";
  /** Events from this sequence on were stored clearly after the webhook was created; null without one. */
  sinceSequence: number | null;
}

/** Each matching event arrives at a webhook once or more. With the ordering OBJECT it arrives in the object's order. */
export function checkDeliveries(webhook: WebhookFacts, events: PublicEvent[], all: Delivery[]): Violation[] {
  const { webhookId, organisation, ordering } = webhook;
  const deliveries = all.filter((delivery) => delivery.webhookId === webhookId);
  const byId = new Map(events.map((event) => [event.eventId, event]));
  const problems = [
    ...findMissing(webhook, events, deliveries),
    ...deliveries.flatMap((delivery) => findStrange(webhook, delivery, byId)),
    ...(ordering === "OBJECT" ? findDisorder(deliveries, byId) : []),
  ];
  return problems.map((problem) => ({
    ...{ check: "deliveries", organisation, message: `webhook ${webhookId}: ${problem}`, operations: [] },
  }));
}

/** The webhook gets the events from its creation on, and without a gap from the first that arrived. */
function findMissing(webhook: WebhookFacts, events: PublicEvent[], deliveries: Delivery[]): string[] {
  const { sinceSequence } = webhook;
  const arrived = new Set(deliveries.map(({ eventId }) => eventId));
  const first = events.findIndex(({ eventId }) => arrived.has(eventId));
  return events
    .filter((event, index) => {
      const isLater = sinceSequence !== null && event.sequence >= sinceSequence;
      return isWanted(webhook, event) && (isLater || (first >= 0 && index > first));
    })
    .filter(({ eventId }) => !arrived.has(eventId))
    .map(({ eventId, type, objectId }) => `${type} ${eventId} of ${objectId} never arrived`);
}

function isWanted({ eventTypes }: WebhookFacts, { type }: PublicEvent): boolean {
  return eventTypes.length === 0 || eventTypes.includes(type);
}

function findStrange(webhook: WebhookFacts, delivery: Delivery, byId: Map<string, PublicEvent>): string[] {
  const { eventId, organisation, body } = delivery;
  const said = body as Partial<PublicEvent>;
  if (said.type === "webhook.test") return [];
  const event = byId.get(eventId);
  if (!event || organisation !== webhook.organisation)
    return [`${eventId} arrived and is no event of ${webhook.organisation}`];
  if (!isWanted(webhook, event)) return [`${event.type} ${eventId} arrived unasked`];
  const fields = ["eventId", "type", "sequence", "objectId", "objectSequence"] as const;
  const changed = fields.filter((field) => said[field] !== event[field]);
  return changed.length === 0 ? [] : [`${eventId} arrived with another ${changed.join(", ")}`];
}

function findDisorder(deliveries: Delivery[], byId: Map<string, PublicEvent>): string[] {
  const last = new Map<string, PublicEvent>();
  const arrived = new Set<string>();
  const problems: string[] = [];
  for (const { eventId } of deliveries.toSorted((one, other) => one.at - other.at)) {
    const event = byId.get(eventId);
    if (!event || arrived.has(eventId)) continue;
    arrived.add(eventId);
    const before = last.get(event.objectId);
    if (before && before.objectSequence > event.objectSequence)
      problems.push(`${event.type} ${eventId} arrived after the later ${before.type} ${before.eventId}`);
    else last.set(event.objectId, event);
  }
  return problems;
}
