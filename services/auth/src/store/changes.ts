import { sql, type Database, type Listener, type Queryable } from "@wonrail/kit/db";
import { type Id } from "@wonrail/kit/contract/ids";
import { type Quota } from "../domain/plans";

/** What gateways must hear of at once, whichever replica of this service they watch. */
export type Change =
  | { kind: "key_revoked"; orgId: Id<"org">; keyId: Id<"key">; prefix: string }
  | { kind: "organisation_changed"; orgId: Id<"org">; version: string }
  | { kind: "quota_recalled"; orgId: Id<"org">; quota: Quota };

const CHANNEL = "auth_changes";

/** Heard when the transaction commits, and not if it does not. */
export async function notifyChange(db: Queryable, change: Change): Promise<void> {
  await db.query(sql`select pg_notify(${CHANNEL}, ${JSON.stringify(change)})`);
}

/** `onGap` is called whenever changes may have gone by unheard. */
export function listenForChanges(
  db: Database,
  { onChange, onGap }: { onChange: (change: Change) => void; onGap: () => void },
): Promise<Listener> {
  return db.listen(CHANNEL, (payload) =>
    payload === "" ? onGap() : onChange(JSON.parse(payload) as Change),
  );
}
