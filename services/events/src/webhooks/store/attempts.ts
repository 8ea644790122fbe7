import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Delivery } from "./deliveries";

export interface Attempt {
  orgId: string;
  webhookId: string;
  deliveryId: string;
  number: number;
  startedAt: Date;
  durationMs: number;
  /** Line and headers of the request; null when none was sent. */
  requestHead: string | null;
  statusCode: number | null;
  responseHead: string | null;
  error: string | null;
}

/** An attempt that ended, and what follows from it. */
export interface FinishedAttempt extends Attempt {
  isDelivered: boolean;
  isGone: boolean;
  /** Null when no attempt follows. */
  pauseMs: number | null;
}

/** Writes many attempts with what became of their deliveries and webhooks. */
export function saveAttempts(tx: Tx, all: readonly FinishedAttempt[]): void {
  const keys = sql`
    ${all.map(({ orgId }) => orgId)}::text[],
    ${all.map(({ webhookId }) => webhookId)}::text[],
    ${all.map(({ deliveryId }) => deliveryId)}::text[]`;
  tx.push(sql`
    update deliveries set attempts = done.number,
      status = case when done.delivered then 'DELIVERED' when done.pause_ms is null then 'FAILED' else 'PENDING' end,
      next_attempt_at = now() + coalesce(done.pause_ms, 0) * interval '1 millisecond',
      waits_until = case when not done.delivered then now() + done.pause_ms * interval '1 millisecond' end,
      finished_at = case when done.delivered or done.pause_ms is null then now() end
    from unnest(${keys}, ${all.map(({ number }) => number)}::integer[], ${all.map(({ isDelivered }) => isDelivered)}::boolean[],
      ${all.map(({ pauseMs }) => pauseMs)}::bigint[]) as done (org_id, webhook_id, delivery_id, number, delivered, pause_ms)
    where deliveries.org_id = done.org_id and deliveries.webhook_id = done.webhook_id
      and deliveries.delivery_id = done.delivery_id and deliveries.status = 'PENDING'`);
  tx.push(sql`
    insert into attempts (org_id, webhook_id, delivery_id, number, started_at, duration_ms,
      request_head, status_code, response_head, error)
    select done.* from unnest(${keys}, ${all.map(({ number }) => number)}::integer[],
      ${all.map(({ startedAt }) => startedAt)}::timestamptz[], ${all.map(({ durationMs }) => durationMs)}::integer[],
      ${all.map(({ requestHead }) => requestHead)}::text[], ${all.map(({ statusCode }) => statusCode)}::integer[],
      ${all.map(({ responseHead }) => responseHead)}::text[],
      ${all.map(({ error }) => error)}::text[])
      as done (org_id, webhook_id, delivery_id, number, started_at, duration_ms, request_head, status_code, response_head, error)
    join deliveries on deliveries.org_id = done.org_id and deliveries.webhook_id = done.webhook_id
      and deliveries.delivery_id = done.delivery_id
    on conflict (org_id, webhook_id, delivery_id, number) do update set started_at = excluded.started_at,
      duration_ms = excluded.duration_ms, request_head = excluded.request_head,
      status_code = excluded.status_code, response_head = excluded.response_head, error = excluded.error`);
  tx.push(sql`
    update webhooks set
      failing_since = case when done.delivered then null else coalesce(failing_since, now()) end,
      warned_percent = case when done.delivered then 0 else warned_percent end,
      status = case when done.gone then 'DISABLED' else status end,
      disabled_reason = case when done.gone and status = 'ENABLED' then 'GONE' else disabled_reason end
    from (select org_id, webhook_id, bool_or(delivered) as delivered, bool_or(gone) as gone
      from unnest(${all.map(({ orgId }) => orgId)}::text[], ${all.map(({ webhookId }) => webhookId)}::text[],
        ${all.map(({ isDelivered }) => isDelivered)}::boolean[], ${all.map(({ isGone }) => isGone)}::boolean[])
        as one (org_id, webhook_id, delivered, gone) group by org_id, webhook_id) as done
    where webhooks.org_id = done.org_id and webhooks.webhook_id = done.webhook_id
      and (done.gone or (done.delivered and failing_since is not null) or (not done.delivered and failing_since is null))`);
}

/** The attempts by delivery, oldest first. */
export async function findAttempts(
  db: Queryable,
  deliveries: readonly Pick<Delivery, "orgId" | "webhookId" | "deliveryId">[],
): Promise<Map<string, Attempt[]>> {
  const [first] = deliveries;
  if (!first) return new Map();
  const rows = await db.query<{
    delivery_id: string;
    number: number;
    started_at: Date;
    duration_ms: number;
    request_head: string | null;
    status_code: number | null;
    response_head: string | null;
    error: string | null;
  }>(sql`
    select delivery_id, number, started_at, duration_ms, request_head, status_code, response_head, error from attempts
    where org_id = ${first.orgId} and webhook_id = ${first.webhookId}
      and delivery_id = any(${deliveries.map(({ deliveryId }) => deliveryId)}::text[])
    order by number`);
  const found = new Map<string, Attempt[]>();
  for (const row of rows) {
    const attempt = {
      ...{ orgId: first.orgId, webhookId: first.webhookId, deliveryId: row.delivery_id, number: row.number },
      ...{ startedAt: row.started_at, durationMs: row.duration_ms, statusCode: row.status_code },
      ...{ requestHead: row.request_head, responseHead: row.response_head, error: row.error },
    };
    found.set(row.delivery_id, [...(found.get(row.delivery_id) ?? []), attempt]);
  }
  return found;
}
