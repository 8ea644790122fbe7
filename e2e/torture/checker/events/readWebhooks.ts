import { withDatabase } from "../database";
import { type RunFacts } from "../facts";
import { type WebhookFacts } from "./checkDeliveries";

/** Adds from which event on each webhook must get all, and which of its failed deliveries will be tried again. */
export async function readWebhooks(facts: RunFacts): Promise<WebhookFacts[]> {
  return withDatabase(facts, "events", async (rows) => {
    const webhooks: WebhookFacts[] = [];
    for (const webhook of facts.webhooks) {
      const { webhookId } = webhook;
      const [since] = await rows<{ sequence: number | null }>(
        `select min(e.sequence)::float8 as sequence from webhooks w join events e using (org_id)
         where w.webhook_id = $1 and e.stored_at > w.created_at + interval '2 s'`,
        [webhookId],
      );
      const waiting = await rows<{ eventId: string }>(
        `select 'evt_' || replace(event_id::text, '-', '') as "eventId" from deliveries
         where webhook_id = $1 and status = 'PENDING' and attempts > 0 and next_attempt_at > now()`,
        [webhookId],
      );
      webhooks.push({
        ...webhook,
        sinceSequence: since?.sequence ?? Infinity,
        waiting: new Set(waiting.map(({ eventId }) => eventId)),
      });
    }
    return webhooks;
  });
}
