import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";

export interface Delivery {
  orgId: string;
  webhookId: string;
  deliveryId: string;
  eventId: string;
  eventType: string;
  objectId: string;
  /** Null for a test. */
  sequence: bigint | null;
  status: "PENDING" | "DELIVERED" | "FAILED";
  attempts: number;
  /** Null when no attempt follows. */
  nextAttemptAt: Date | null;
  createdAt: Date;
  finishedAt: Date | null;
}

interface DeliveryRow {
  org_id: string;
  webhook_id: string;
  delivery_id: string;
  event_id: string;
  event_type: string;
  object_id: string;
  sequence: bigint | null;
  status: Delivery["status"];
  attempts: number;
  next_attempt_at: Date;
  created_at: Date;
  finished_at: Date | null;
}

/**
 * Ids of the deliveries that a statement makes: UUIDv7 texts of its time, which sort by the order of
 * the rows. So the primary key lists a webhook's newest deliveries first.
 */
const deliveryIds = (order: Sql) => sql`
  'dlv_' || lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '70008'
    || lpad(to_hex(row_number() over (order by ${order})), 7, '0') || left(gen_random_uuid()::text, 8)`;

/**
 * Makes the deliveries of new events for enabled webhooks and moves their cursors, in one statement. Returns how many
 * webhooks it moved. The ids sort by the events' sequences.
 */
export async function fanOut(db: Queryable, webhooks: number, eventsEach: number): Promise<number> {
  const [moved] = await db.write<{ webhooks: number }>(
    named(
      "deliveries_fan_out",
      sql`
        with behind as (
          select w.org_id, w.webhook_id, w.event_types, w.after_sequence, o.last_sequence
          from webhooks w join organisations o on o.org_id = w.org_id
          where w.status = 'ENABLED' and w.after_sequence < o.last_sequence
          limit ${webhooks} for update of w skip locked
        ), chosen as (
          select behind.org_id, behind.webhook_id, behind.event_types, e.sequence, e.event_id, e.type, e.object_id
          from behind cross join lateral (
            select sequence, event_id, type, object_id from events
            where events.org_id = behind.org_id and events.sequence > behind.after_sequence
              and events.sequence <= behind.last_sequence
            order by sequence limit ${eventsEach}) e
        ), added as (
          insert into deliveries (org_id, webhook_id, delivery_id, event_id, event_type, object_id, sequence)
          select org_id, webhook_id, ${deliveryIds(sql`org_id, webhook_id, sequence`)}, event_id, type, object_id, sequence
          from chosen where cardinality(event_types) = 0 or type = any(event_types)
          order by org_id, webhook_id, sequence
        ), moved as (
          update webhooks w set after_sequence = coalesce(
            (select max(sequence) from chosen where chosen.org_id = w.org_id and chosen.webhook_id = w.webhook_id),
            behind.last_sequence)
          from behind where w.org_id = behind.org_id and w.webhook_id = behind.webhook_id
          returning 1
        )
        select count(*)::integer as webhooks from moved`,
    ),
  );
  return moved!.webhooks;
}

/** A leased delivery with its event. */
export interface ClaimedDelivery {
  orgId: string;
  webhookId: string;
  deliveryId: string;
  eventId: string;
  eventType: string;
  sequence: bigint | null;
  objectId: string;
  attempts: number;
  createdAt: Date;
  /** Null for a test, or when the event has been deleted. */
  event: { objectSequence: bigint; createdAt: Date; dataJson: string } | null;
}

export interface ClaimLimits {
  /** Deliveries of one webhook at once. */
  perWebhook: number;
  inAll: number;
  /** Webhooks with fewer: those that are busy or fail. */
  exceptions: { webhookId: string; limit: number }[];
  leaseMs: number;
}

/**
 * Leases due deliveries. In the order of an object only its oldest pending delivery is due. The order of the webhooks
 * is random, so that webhooks with a long backlog do not fill every claim. `candidates` steps through the index of due
 * deliveries from webhook to webhook. So webhooks whose deliveries are all leased or paused cost nothing.
 */
export async function claimDeliveries(db: Queryable, limits: ClaimLimits): Promise<ClaimedDelivery[]> {
  const { perWebhook, inAll, exceptions, leaseMs } = limits;
  const rows = await db.write<
    Omit<DeliveryRow, "status" | "next_attempt_at" | "finished_at"> & {
      object_sequence: bigint | null;
      event_created_at: Date | null;
      data: string | null;
    }
  >(sql`
    with recursive candidates as (
      (select org_id, webhook_id from deliveries where status = 'PENDING' and waits_until is null
        order by org_id, webhook_id limit 1)
      union all
      select next.org_id, next.webhook_id from candidates cross join lateral (
        select org_id, webhook_id from deliveries
        where status = 'PENDING' and waits_until is null
          and (deliveries.org_id, deliveries.webhook_id) > (candidates.org_id, candidates.webhook_id)
        order by org_id, webhook_id limit 1) next
    ), due as (
      select d.org_id, d.webhook_id, d.delivery_id
      from (
        select webhooks.*, coalesce(busy.free, ${perWebhook}) as free
        from candidates join webhooks using (org_id, webhook_id)
        left join unnest(${exceptions.map(({ webhookId }) => webhookId)}::text[],
          ${exceptions.map(({ limit }) => limit)}::integer[]) as busy (webhook_id, free) using (webhook_id)
        where coalesce(busy.free, ${perWebhook}) > 0
        order by hashtextextended(webhook_id, ${Math.floor(Math.random() * 2 ** 32)})
      ) w
      cross join lateral (
        select org_id, webhook_id, delivery_id from deliveries
        where deliveries.org_id = w.org_id and deliveries.webhook_id = w.webhook_id and status = 'PENDING' and waits_until is null
          and (w.status = 'ENABLED' or sequence is null)
          and (w.ordering = 'NONE' or sequence is null or not exists (
            select from deliveries earlier
            where earlier.org_id = w.org_id and earlier.webhook_id = w.webhook_id and earlier.status = 'PENDING'
              and earlier.object_id = deliveries.object_id and earlier.sequence < deliveries.sequence))
        order by next_attempt_at, sequence limit w.free for update skip locked) d
      limit ${inAll}
    ), leased as (
      update deliveries set waits_until = now() + ${leaseMs} * interval '1 millisecond'
      from due where deliveries.org_id = due.org_id and deliveries.webhook_id = due.webhook_id
        and deliveries.delivery_id = due.delivery_id
      returning deliveries.*
    )
    select leased.*, e.object_sequence, e.created_at as event_created_at, e.data::text as data
    from leased left join events e on e.org_id = leased.org_id and e.sequence = leased.sequence
    order by leased.sequence`);
  return rows.map((row) => ({
    ...{ orgId: row.org_id, webhookId: row.webhook_id, deliveryId: row.delivery_id },
    ...{ eventId: uuidToId("evt", row.event_id), eventType: row.event_type, objectId: row.object_id },
    ...{ sequence: row.sequence, attempts: row.attempts, createdAt: row.created_at },
    event:
      row.data === null
        ? null
        : { objectSequence: row.object_sequence!, createdAt: row.event_created_at!, dataJson: row.data },
  }));
}

/**
 * Makes deliveries due whose pause has ended, or whose lease has: their replica died. Returns how many.
 */
export async function endWaits(db: Queryable, limit: number): Promise<number> {
  return db.run(
    named(
      "deliveries_end_waits",
      sql`
        update deliveries set waits_until = null
        from (
          select org_id, webhook_id, delivery_id from deliveries
          where status = 'PENDING' and waits_until <= now()
          order by waits_until limit ${limit} for update skip locked
        ) as ended
        where deliveries.org_id = ended.org_id and deliveries.webhook_id = ended.webhook_id
          and deliveries.delivery_id = ended.delivery_id`,
    ),
  );
}

/** Moves an organisation's next attempts nearer. The lease of an attempt under way stays. */
export async function moveRetries(tx: Tx, orgId: string, byMs: number): Promise<void> {
  await tx.run(sql`
    update deliveries set next_attempt_at = next_attempt_at - ${byMs} * interval '1 millisecond',
      waits_until = waits_until - ${byMs} * interval '1 millisecond'
    where org_id = ${orgId} and status = 'PENDING' and waits_until is not null and next_attempt_at > now()`);
}

export async function insertTest(
  tx: Tx,
  test: Pick<Delivery, "orgId" | "webhookId" | "deliveryId" | "eventId" | "eventType">,
): Promise<Delivery> {
  const { orgId, webhookId, deliveryId, eventId, eventType } = test;
  const [row] = await tx.write<DeliveryRow>(sql`
    insert into deliveries (org_id, webhook_id, delivery_id, event_id, event_type, object_id)
    values (${orgId}, ${webhookId}, ${deliveryId}, ${idToUuid(eventId)}::uuid, ${eventType}, ${webhookId}) returning *`);
  return fromRow(row!);
}

/** Makes new deliveries of kept events between two sequences. Returns how many. */
export async function replayRange(
  tx: Tx,
  { orgId, webhookId }: Pick<Delivery, "orgId" | "webhookId">,
  range: { after: bigint; upTo: bigint; types: readonly string[]; limit: number },
): Promise<number> {
  const { after, upTo, types, limit } = range;
  return tx.run(sql`
    insert into deliveries (org_id, webhook_id, delivery_id, event_id, event_type, object_id, sequence)
    select org_id, ${webhookId}::text, ${deliveryIds(sql`sequence`)}, event_id, type, object_id, sequence
    from events where org_id = ${orgId} and sequence > ${after} and sequence <= ${upTo}
      and (${types.length === 0} or type = any(${[...types]}::text[]))
    order by sequence limit ${limit}`);
}

/**
 * Attempts failed deliveries again at once, as if they were new: also those that pause before a
 * later attempt. Returns the number. An attempt that is being saved holds only a key lock, which
 * this lock admits. Deliveries that another replay or the deletion has locked are left out.
 */
export async function replayFailed(
  tx: Tx,
  { orgId, webhookId }: Pick<Delivery, "orgId" | "webhookId">,
  limit: number,
): Promise<number> {
  return tx.run(sql`
    with again as (
      select org_id, webhook_id, delivery_id from deliveries
      where org_id = ${orgId} and webhook_id = ${webhookId}
        and (status = 'FAILED' or status = 'PENDING' and next_attempt_at > now())
      order by sequence limit ${limit} for no key update skip locked
    ), forgotten as (
      delete from attempts using again where attempts.org_id = again.org_id
        and attempts.webhook_id = again.webhook_id and attempts.delivery_id = again.delivery_id
    )
    update deliveries set status = 'PENDING', attempts = 0, next_attempt_at = now(), waits_until = null,
      finished_at = null
    from again where deliveries.org_id = again.org_id and deliveries.webhook_id = again.webhook_id
      and deliveries.delivery_id = again.delivery_id`);
}

/** The newest first. */
export async function listDeliveries(
  db: Queryable,
  { orgId, webhookId, status }: { orgId: string; webhookId: string; status: Delivery["status"] | null },
  page: Page,
): Promise<{ rows: Delivery[]; total: number }> {
  const ofStatus = status === null ? sql`` : sql`and status = ${status}`;
  const within = sql`org_id = ${orgId} and webhook_id = ${webhookId} ${ofStatus}`;
  const after = page.after === null ? sql`` : sql`and delivery_id < ${page.after}`;
  const rows = await db.query<DeliveryRow>(sql`
    select * from deliveries where ${within} ${after}
    order by delivery_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  const { total } = await db.one<{ total: bigint }>(sql`
    select count(*) as total from (select from deliveries where ${within} limit ${MAX_OFFSET_ROWS + 1}) as counted`);
  return { rows: rows.map(fromRow), total: Number(total) };
}

export interface DeliveryToUrl extends Delivery {
  url: string;
}

/** Replays make several deliveries of an event. */
const MOST_OF_EVENTS = 1_000;

/** The deliveries of these events to all webhooks of the organisation, oldest first. */
export async function listDeliveriesOfEvents(
  db: Queryable,
  orgId: string,
  eventIds: string[],
): Promise<DeliveryToUrl[]> {
  const rows = await db.query<DeliveryRow & { url: string }>(sql`
    select d.*, w.url
    from deliveries d join webhooks w on w.org_id = d.org_id and w.webhook_id = d.webhook_id
    where d.event_id = any(${eventIds.map(idToUuid)}::uuid[]) and d.org_id = ${orgId}
    order by d.created_at, d.delivery_id limit ${MOST_OF_EVENTS}`);
  return rows.map((row) => ({ ...fromRow(row), url: row.url }));
}

/** Deletes one window of finished deliveries that are older, with their attempts. Returns the number of deliveries. */
export async function deleteOldDeliveries(db: Queryable, keepMs: number, limit: number): Promise<number> {
  return db.run(sql`
    delete from deliveries where ctid = any(array(
      select ctid from deliveries where finished_at < now() - ${keepMs} * interval '1 millisecond' limit ${limit}))`);
}

function fromRow(row: DeliveryRow): Delivery {
  return {
    ...{ orgId: row.org_id, webhookId: row.webhook_id, deliveryId: row.delivery_id },
    ...{ eventId: uuidToId("evt", row.event_id), eventType: row.event_type, objectId: row.object_id },
    ...{ sequence: row.sequence, status: row.status, attempts: row.attempts },
    nextAttemptAt: row.status === "PENDING" ? row.next_attempt_at : null,
    ...{ createdAt: row.created_at, finishedAt: row.finished_at },
  };
}
