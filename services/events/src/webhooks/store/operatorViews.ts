import { type Queryable, sql } from "@wonrail/kit/db";
import { type DisabledReason, type Webhook } from "../domain/webhook";

/** A webhook as an operator sees it in a list of all organisations. */
export interface WebhookView {
  orgId: string;
  webhookId: string;
  url: string;
  status: Webhook["status"];
  disabledReason: DisabledReason | null;
  failingSince: Date | null;
  /** Events without a delivery yet. They wait while the webhook is DISABLED. */
  eventsBehind: number;
  /** Counted up to 10,000. */
  pendingDeliveries: number;
  /** When the oldest pending delivery was made. */
  pendingSince: Date | null;
}

export interface ViewFilter {
  orgId: string | null;
  webhookId: string | null;
  /** Only webhooks that fail, or that the service or an operator disabled. */
  isTroubled: boolean;
  limit: number;
}

const MAX_COUNT = 10_000;

/** Lists webhooks: those that fail for the longest time first. */
export function listWebhookViews(db: Queryable, filter: ViewFilter): Promise<WebhookView[]> {
  const { orgId, webhookId, isTroubled, limit } = filter;
  return db.query<WebhookView>(sql`
    select w.org_id as "orgId", w.webhook_id as "webhookId", w.url, w.status, w.disabled_reason as "disabledReason",
      w.failing_since as "failingSince",
      greatest(coalesce(o.last_sequence, 0) - w.after_sequence, 0)::float8 as "eventsBehind",
      pending.count as "pendingDeliveries", pending.since as "pendingSince"
    from webhooks w left join organisations o on o.org_id = w.org_id
    cross join lateral (
      select count(*)::integer as count, min(created_at) as since from (
        select created_at from deliveries
        where deliveries.org_id = w.org_id and deliveries.webhook_id = w.webhook_id and status = 'PENDING'
        limit ${MAX_COUNT}) as counted) pending
    where (${orgId}::text is null or w.org_id = ${orgId})
      and (${webhookId}::text is null or w.webhook_id = ${webhookId})
      and (not ${isTroubled} or w.failing_since is not null or w.disabled_reason in ('GONE', 'FAILING', 'OPERATOR'))
    order by w.failing_since nulls last, w.org_id, w.webhook_id limit ${limit}`);
}

/** The organisation of a webhook; undefined when there is no such webhook. */
export async function findOwner(db: Queryable, webhookId: string): Promise<string | undefined> {
  const row = await db.maybe<{ org_id: string }>(
    sql`select org_id from webhooks where webhook_id = ${webhookId}`,
  );
  return row?.org_id;
}
