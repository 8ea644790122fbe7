import { sql, type Database, type Listener, type Queryable } from "@wonrail/kit/db";
import { isId, type Id } from "@wonrail/kit/contract/ids";
import { isQuota, type Quota } from "../domain/plans";

/** Changes that gateways must learn at once, from any replica of this service. */
export type Change =
  | { kind: "key_revoked"; orgId: Id<"org">; keyId: Id<"key">; prefix: string }
  | { kind: "organisation_changed"; orgId: Id<"org">; version: string }
  | { kind: "quota_recalled"; orgId: Id<"org">; quota: Quota };

const CHANNEL = "auth_changes";

/** PostgreSQL delivers the notification when the transaction commits. */
export async function notifyChange(db: Queryable, change: Change): Promise<void> {
  await db.run(sql`select pg_notify(${CHANNEL}, ${JSON.stringify(change)})`);
}

/**
 * `onGap` is called whenever changes may have been missed: after a reconnection, and for a payload
 * that is no change. The watchers must then reload.
 */
export function listenForChanges(
  db: Database,
  { onChange, onGap }: { onChange: (change: Change) => void; onGap: () => void },
): Promise<Listener> {
  return db.listen(CHANNEL, (payload) => {
    const change = parseChange(payload);
    if (change === null) onGap();
    else onChange(change);
  });
}

/** Null for a payload that is no change: each session of the database can notify the channel. */
function parseChange(payload: string): Change | null {
  const fields = parseObject(payload);
  if (!isId("org", fields.orgId)) return null;
  const { orgId } = fields;
  switch (fields.kind) {
    case "key_revoked": {
      const { keyId, prefix } = fields;
      return isId("key", keyId) && isString(prefix) ? { kind: fields.kind, orgId, keyId, prefix } : null;
    }
    case "organisation_changed": {
      const { version } = fields;
      const isVersion = isString(version) && /^[1-9]\d{0,17}$/.test(version);
      return isVersion ? { kind: fields.kind, orgId, version } : null;
    }
    case "quota_recalled":
      return isQuota(fields.quota) ? { kind: fields.kind, orgId, quota: fields.quota } : null;
    default:
      return null;
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  } catch {
    return {};
  }
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
