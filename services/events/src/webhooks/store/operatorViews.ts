import { type Queryable, type Sql, sql } from "@wonrail/kit/db";
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

/** Lists webhooks: those that fail for the longest time first. Only the listed ones are counted. */
export function listWebhookViews(db: Queryable, filter: ViewFilter): Promise<WebhookView[]> {
  const { limit, isTroubled } = filter;
  const walk = (condition: Sql) => sql`
    (select * from webhooks where ${sql.join([condition, ...those(filter)], sql` and `)}
    order by failing_since, org_id, webhook_id limit ${limit})`;
  const listed = isTroubled
    ? sql`${walk(sql`failing_since is not null`)} union all ${walk(sql`failing_since is null and ${DISABLED}`)}`
    : walk(sql`true`);
  return db.query<WebhookView>(sql`
    select w.org_id as "orgId", w.webhook_id as "webhookId", w.url, w.status, w.disabled_reason as "disabledReason",
      w.failing_since as "failingSince",
      greatest(coalesce(o.last_sequence, 0) - w.after_sequence, 0)::float8 as "eventsBehind",
      pending.count as "pendingDeliveries", pending.since as "pendingSince"
    from (${listed}) w left join organisations o on o.org_id = w.org_id
    cross join lateral (
      select count(*)::integer as count, min(created_at) as since from (
        select created_at from deliveries
        where deliveries.org_id = w.org_id and deliveries.webhook_id = w.webhook_id and status = 'PENDING'
        limit ${MAX_COUNT}) as counted) pending
    order by w.failing_since, w.org_id, w.webhook_id limit ${limit}`);
}

/** In the words of the index. */
const DISABLED = sql`disabled_reason in ('GONE', 'FAILING', 'OPERATOR')`;

function those({ orgId, webhookId }: ViewFilter): Sql[] {
  return [
    ...(orgId === null ? [] : [sql`org_id = ${orgId}`]),
    ...(webhookId === null ? [] : [sql`webhook_id = ${webhookId}`]),
  ];
}

export interface Overview {
  failingWebhooks: number;
  /** When the longest failing one began to fail. */
  failingSince: Date | null;
  disabledWebhooks: number;
  dueDeliveries: number;
  waitingDeliveries: number;
}

/** Counts up to 10,000 each. */
export function readOverview(db: Queryable): Promise<Overview> {
  const counted = (rows: Sql) => sql`(select count(*)::integer from (${rows} limit ${MAX_COUNT}) as counted)`;
  const failing = sql`select failing_since from webhooks where failing_since is not null order by failing_since`;
  const pending = sql`select from deliveries where status = 'PENDING'`;
  return db.one<Overview>(sql`
    select ${counted(failing)} as "failingWebhooks", (${failing} limit 1) as "failingSince",
      ${counted(sql`select from webhooks where ${DISABLED}`)} as "disabledWebhooks",
      ${counted(sql`${pending} and waits_until is null`)} as "dueDeliveries",
      ${counted(sql`${pending} and waits_until is not null`)} as "waitingDeliveries"`);
}

/** A webhook that a search found. */
export interface FoundWebhook {
  orgId: string;
  url: string;
  status: Webhook["status"];
}

export function findWebhook(db: Queryable, webhookId: string): Promise<FoundWebhook | undefined> {
  return db.maybe<FoundWebhook>(
    sql`select org_id as "orgId", url, status from webhooks where webhook_id = ${webhookId}`,
  );
}

/** The organisation of a webhook; undefined when there is no such webhook. */
export async function findOwner(db: Queryable, webhookId: string): Promise<string | undefined> {
  const row = await db.maybe<{ org_id: string }>(
    sql`select org_id from webhooks where webhook_id = ${webhookId}`,
  );
  return row?.org_id;
}
