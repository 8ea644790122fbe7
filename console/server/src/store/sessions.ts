import { type RoleName } from "@wonrail/kit/admin";
import { type Queryable, sql } from "@wonrail/kit/db";

/** When sessions end. */
export interface SessionLimits {
  idleMs: number;
  maxMs: number;
}

export interface StoredSession {
  operator: string;
  roles: RoleName[];
  expiresAt: Date;
}

export async function insertSession(
  db: Queryable,
  { tokenHash, operator, roles }: { tokenHash: Buffer; operator: string; roles: RoleName[] },
): Promise<void> {
  await db.run(sql`
    insert into sessions (token_hash, operator, roles) values (${tokenHash}, ${operator}, ${roles}::text[])`);
}

/** Undefined when the session does not exist or is over. */
export function findSession(
  db: Queryable,
  tokenHash: Buffer,
  limits: SessionLimits,
): Promise<StoredSession | undefined> {
  return db.maybe<StoredSession>(sql`
    select operator, roles, ${expiry(limits)} as "expiresAt" from sessions
    where token_hash = ${tokenHash} and ${expiry(limits)} > now()`);
}

/** As `findSession`, and the idle time starts anew. */
export async function touchSession(
  db: Queryable,
  tokenHash: Buffer,
  limits: SessionLimits,
): Promise<StoredSession | undefined> {
  const [session] = await db.write<StoredSession>(sql`
    update sessions set last_seen_at = now()
    where token_hash = ${tokenHash} and ${expiry(limits)} > now()
    returning operator, roles, ${expiry(limits)} as "expiresAt"`);
  return session;
}

export async function deleteSession(db: Queryable, tokenHash: Buffer): Promise<void> {
  await db.run(sql`delete from sessions where token_hash = ${tokenHash}`);
}

export async function deleteOldSessions(db: Queryable, limits: SessionLimits): Promise<void> {
  await db.run(sql`delete from sessions where ${expiry(limits)} <= now()`);
}

function expiry({ idleMs, maxMs }: SessionLimits) {
  return sql`least(
    last_seen_at + make_interval(secs => ${idleMs / 1000}::float8),
    created_at + make_interval(secs => ${maxMs / 1000}::float8))`;
}
