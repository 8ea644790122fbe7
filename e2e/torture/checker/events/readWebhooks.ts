import { withDatabase } from "../database";
import { type WorldAccess } from "../access";
import { type WebhookFacts } from "./checkDeliveries";

/** Reads the webhooks, and from which event on each of them must get all. */
export async function readWebhooks(access: WorldAccess): Promise<WebhookFacts[]> {
  const codes = new Map(access.organisations.map(({ id, code }) => [id, code]));
  const rows = await withDatabase(access, "events", (query) =>
    query<Omit<WebhookFacts, "organisation"> & { orgId: string }>(
      `select w.org_id as "orgId", w.webhook_id as "webhookId", w.event_types as "eventTypes", w.ordering,
              min(e.sequence)::float8 as "sinceSequence"
       from webhooks w
       left join events e on e.org_id = w.org_id and e.stored_at > w.created_at + interval '2 s'
       where w.org_id = any($1) group by w.org_id, w.webhook_id order by w.org_id, w.webhook_id`,
      [[...codes.keys()]],
    ),
  );
  return rows.map(({ orgId, ...webhook }) => ({ organisation: codes.get(orgId)!, ...webhook }));
}
