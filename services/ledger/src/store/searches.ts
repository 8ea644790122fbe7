import { sql, type Queryable, type Sql } from "@wonrail/kit/db";
import { idTimeMs, idToUuid, joinId, uuidToId } from "@wonrail/kit/contract/ids";
import type { IntentKind } from "../domain/intents";
import { intentKinds } from "./codes";

/** A request that a search found. */
export interface FoundRequest {
  orgId: string;
  requestId: string;
  kind: IntentKind;
  /** The error code of a refusal. */
  code: string | null;
  decidedAt: Date;
}

/** Requests of any organisation with the UUID of this id. */
export function findRequestsById(db: Queryable, id: string, limit: number): Promise<FoundRequest[]> {
  return findRequests(db, sql`id = ${idToUuid(id)}`, limit);
}

export function findRequestsByReference(
  db: Queryable,
  reference: string,
  limit: number,
): Promise<FoundRequest[]> {
  return findRequests(db, sql`reference = ${reference}`, limit);
}

/** A call's entries get their ids soon after the call's own id, by clocks that may differ. */
const EARLIER_MS = 2_000;
const LATER_MS = 20_000;

/** Requests that a call of the gateway asked for. The time in the call's id limits the search. */
export function findRequestsOfCall(db: Queryable, callId: string, limit: number): Promise<FoundRequest[]> {
  const calledMs = idTimeMs(callId);
  const from = new Date(calledMs - EARLIER_MS);
  const until = new Date(calledMs + LATER_MS);
  return findRequests(
    db,
    sql`id >= uuid_from(${from}) and id < uuid_from(${until}) and starts_with(origin, ${`${callId} `})`,
    limit,
  );
}

async function findRequests(db: Queryable, those: Sql, limit: number): Promise<FoundRequest[]> {
  const rows = await db.query<{
    org_id: string;
    id: string;
    request_prefix: string;
    kind: number;
    code: string | null;
    posted_at: Date;
  }>(sql`
    select org_id, id, request_prefix, kind, code, posted_at from entries where ${those} limit ${limit}`);
  return rows.map((row) => ({
    orgId: uuidToId("org", row.org_id),
    requestId: joinId(row.request_prefix, row.id),
    kind: intentKinds.fromCode(row.kind),
    code: row.code,
    decidedAt: row.posted_at,
  }));
}

/** The poster of a request, and its key. */
export interface RequestSource {
  decidedAt: Date;
  /** The service that posted it, by its certificate. */
  postedBy: string | null;
  key: { scope: string; key: string; createdAt: Date } | null;
}

/** A key has the time of its request, because one transaction writes both. */
export async function findRequestSource(
  db: Queryable,
  { orgId, requestId }: { orgId: string; requestId: string },
): Promise<RequestSource | undefined> {
  const row = await db.maybe<{
    posted_at: Date;
    posted_by: string | null;
    scope: string | null;
    key: string | null;
    created_at: Date | null;
  }>(sql`
    select e.posted_at, e.posted_by, k.scope, k.key, k.created_at
    from entries e
    left join lateral (
      select * from request_keys k
      where k.created_at = e.posted_at and k.request_id = e.id and k.org_id = e.org_id limit 1) k on true
    where e.org_id = ${idToUuid(orgId)} and e.id = ${idToUuid(requestId)}`);
  if (!row) return undefined;
  const { scope, key, created_at: createdAt } = row;
  return {
    decidedAt: row.posted_at,
    postedBy: row.posted_by,
    key: scope === null || key === null || createdAt === null ? null : { scope, key, createdAt },
  };
}
