import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Page, MAX_OFFSET_ROWS, rowsToRead } from "@wonrail/kit/page";
import { type EventType } from "../../feed";
import { type DisabledReason, type Webhook } from "../domain/webhook";

export interface SealedSecret {
  kekId: string;
  bytes: Buffer;
}

/** The secrets that sign: the current one, and the one before while its time lasts. */
export interface SealedSecrets {
  version: number;
  current: SealedSecret;
  previous: (SealedSecret & { endsAt: Date }) | null;
}

export interface StoredWebhook extends Webhook {
  secrets: SealedSecrets;
  warnedPercent: number;
}

interface WebhookRow {
  org_id: string;
  webhook_id: string;
  url: string;
  event_types: EventType[];
  description: string;
  status: Webhook["status"];
  disabled_reason: DisabledReason | null;
  ordering: Webhook["ordering"];
  secret_version: number;
  kek_id: string;
  sealed_secret: Buffer;
  previous_kek_id: string | null;
  previous_sealed_secret: Buffer | null;
  previous_ends_at: Date | null;
  after_sequence: bigint;
  failing_since: Date | null;
  warned_percent: number;
  created_at: Date;
  updated_at: Date;
}

export type NewWebhook = Omit<Webhook, "failingSince" | "createdAt" | "updatedAt"> & { secret: SealedSecret };

/** The first version of a secret. The seal of a secret is bound to its version. */
export const FIRST_SECRET_VERSION = 1;

export async function insertWebhook(tx: Tx, webhook: NewWebhook): Promise<StoredWebhook> {
  const { orgId, webhookId, url, eventTypes, description, status, disabledReason, ordering, secret } =
    webhook;
  const [row] = await tx.write<WebhookRow>(sql`
    insert into webhooks (org_id, webhook_id, url, event_types, description, status, disabled_reason, ordering,
      secret_version, kek_id, sealed_secret, after_sequence)
    values (${orgId}, ${webhookId}, ${url}, ${eventTypes}::text[], ${description}, ${status}, ${disabledReason}, ${ordering},
      ${FIRST_SECRET_VERSION}, ${secret.kekId}, ${secret.bytes}, ${webhook.afterSequence})
    returning *`);
  return fromRow(row!);
}

/** Locks the organisation's webhooks against a second insert. Returns their number. */
export async function countForInsert(tx: Tx, orgId: string): Promise<number> {
  await tx.query(sql`select pg_advisory_xact_lock(hashtextextended(${orgId}, 0))`);
  const { count } = await tx.one<{ count: bigint }>(
    sql`select count(*) as count from webhooks where org_id = ${orgId}`,
  );
  return Number(count);
}

export async function findWebhook(
  db: Queryable,
  orgId: string,
  webhookId: string,
): Promise<StoredWebhook | undefined> {
  const row = await db.maybe<WebhookRow>(
    sql`select * from webhooks where org_id = ${orgId} and webhook_id = ${webhookId}`,
  );
  return row && fromRow(row);
}

export async function lockWebhook(
  tx: Tx,
  orgId: string,
  webhookId: string,
): Promise<StoredWebhook | undefined> {
  const row = await tx.maybe<WebhookRow>(
    sql`select * from webhooks where org_id = ${orgId} and webhook_id = ${webhookId} for update`,
  );
  return row && fromRow(row);
}

export async function listWebhooks(
  db: Queryable,
  orgId: string,
  page: Page,
): Promise<{ rows: Webhook[]; total: number }> {
  const after = page.after === null ? sql`` : sql`and webhook_id < ${page.after}`;
  const rows = await db.query<WebhookRow>(sql`
    select * from webhooks where org_id = ${orgId} ${after}
    order by webhook_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  const { total } = await db.one<{ total: bigint }>(sql`
    select count(*) as total from (select from webhooks where org_id = ${orgId} limit ${MAX_OFFSET_ROWS + 1}) as counted`);
  return { rows: rows.map(fromRow), total: Number(total) };
}

/** Saves what a request can change. */
export async function saveWebhook(tx: Tx, webhook: StoredWebhook): Promise<StoredWebhook> {
  const { previous } = webhook.secrets;
  const [row] = await tx.write<WebhookRow>(sql`
    update webhooks set url = ${webhook.url}, event_types = ${webhook.eventTypes}::text[],
      description = ${webhook.description}, status = ${webhook.status}, disabled_reason = ${webhook.disabledReason},
      ordering = ${webhook.ordering}, secret_version = ${webhook.secrets.version},
      kek_id = ${webhook.secrets.current.kekId}, sealed_secret = ${webhook.secrets.current.bytes},
      previous_kek_id = ${previous?.kekId ?? null}, previous_sealed_secret = ${previous?.bytes ?? null},
      previous_ends_at = ${previous?.endsAt.toISOString() ?? null}, failing_since = ${webhook.failingSince?.toISOString() ?? null},
      warned_percent = ${webhook.warnedPercent}, updated_at = now()
    where org_id = ${webhook.orgId} and webhook_id = ${webhook.webhookId}
    returning *`);
  return fromRow(row!);
}

/** The deliveries go with it. */
export async function deleteWebhook(db: Queryable, orgId: string, webhookId: string): Promise<boolean> {
  return (await db.run(sql`delete from webhooks where org_id = ${orgId} and webhook_id = ${webhookId}`)) > 0;
}

export async function findSecrets(
  db: Queryable,
  keys: readonly Pick<Webhook, "orgId" | "webhookId">[],
): Promise<(Pick<StoredWebhook, "orgId" | "webhookId" | "url"> & { secrets: SealedSecrets })[]> {
  const rows = await db.query<WebhookRow>(sql`
    select webhooks.* from unnest(${keys.map(({ orgId }) => orgId)}::text[],
      ${keys.map(({ webhookId }) => webhookId)}::text[]) as wanted (org_id, webhook_id)
    join webhooks on webhooks.org_id = wanted.org_id and webhooks.webhook_id = wanted.webhook_id`);
  return rows.map(fromRow);
}

/** The webhooks that fail, the longest first, locked. Another replica's are left out. */
export async function lockFailing(
  tx: Tx,
  failingMs: number,
  limit: number,
): Promise<(StoredWebhook & { failingMs: number })[]> {
  const rows = await tx.query<WebhookRow & { failing_ms: number }>(sql`
    select *, extract(epoch from now() - failing_since)::float8 * 1000 as failing_ms from webhooks
    where status = 'ENABLED' and failing_since < now() - ${failingMs} * interval '1 millisecond'
      and (warned_percent = 0 or failing_since < now() - ${failingMs} * 1.5 * interval '1 millisecond')
    order by failing_since limit ${limit} for update skip locked`);
  return rows.map((row) => ({ ...fromRow(row), failingMs: row.failing_ms }));
}

/** By state: disabled by us, failing and not yet warned of, and failing for so many percent of five days. */
export type StateCounts = Record<"disabled" | "failing" | "warned_50" | "warned_75", number>;

/** How many webhooks are in each state, for the metrics. */
export async function countStates(db: Queryable): Promise<StateCounts> {
  return db.one<StateCounts>(
    named(
      "webhooks_states",
      sql`
        select count(*) filter (where disabled_reason in ('GONE', 'FAILING'))::integer as disabled,
          count(*) filter (where is_failing and warned_percent = 0)::integer as failing,
          count(*) filter (where is_failing and warned_percent = 50)::integer as warned_50,
          count(*) filter (where is_failing and warned_percent = 75)::integer as warned_75
        from webhooks, lateral (select status = 'ENABLED' and failing_since is not null as is_failing) as one`,
    ),
  );
}

function fromRow(row: WebhookRow): StoredWebhook {
  const previous =
    row.previous_sealed_secret === null
      ? null
      : { kekId: row.previous_kek_id!, bytes: row.previous_sealed_secret, endsAt: row.previous_ends_at! };
  return {
    ...{ orgId: row.org_id, webhookId: row.webhook_id, url: row.url, eventTypes: row.event_types },
    ...{ description: row.description, status: row.status, disabledReason: row.disabled_reason },
    ...{ ordering: row.ordering, afterSequence: row.after_sequence, failingSince: row.failing_since },
    ...{ createdAt: row.created_at, updatedAt: row.updated_at, warnedPercent: row.warned_percent },
    secrets: {
      version: row.secret_version,
      current: { kekId: row.kek_id, bytes: row.sealed_secret },
      previous,
    },
  };
}
