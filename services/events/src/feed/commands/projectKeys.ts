import { clockTimeMs } from "@wonrail/kit/contract/sandboxClock";
import { type Tx } from "@wonrail/kit/db";
import { type ReceivedEvent } from "@wonrail/kit/inbox";
import { findClocks, lockOffsetMs } from "@wonrail/kit/sandboxClocks";
import { KeyIssued } from "@wonrail/proto/auth/events/v1/events";
import { type Change } from "../domain/change";
import { type ExpiringKey, issuedKey, keyChange } from "../domain/keys";
import { deleteKey, saveKey } from "../store/apiKeys";
import { publishChanges } from "./publishChanges";

type PassedMs = (key: ExpiringKey) => number;

/** Publishes issued keys, and keeps those that can still expire. The aggregate of each event is the key. */
export async function projectKeys(_deps: object, tx: Tx, events: ReceivedEvent[]): Promise<void> {
  const passedMs = await readClocks(tx, events);
  await publishChanges(tx, events, () => events.flatMap((event) => changeOf(tx, event, passedMs) ?? []));
}

/**
 * By how much test clocks were advanced after the issue of a key. The advance can be stored before
 * the key.
 */
async function readClocks(tx: Tx, events: ReceivedEvent[]): Promise<PassedMs> {
  const issues = events.filter(({ type }) => type === "key_issued");
  const orgIds = [...new Set(issues.map(({ orgId }) => orgId))].sort();
  if (orgIds.length === 0) return () => 0;
  const offsets = new Map<string, number>();
  // A later advance waits for the end of this transaction, and moves the key itself.
  for (const orgId of orgIds) offsets.set(orgId, await lockOffsetMs(tx, orgId));
  const clocks = await findClocks(tx, orgIds);
  return ({ orgId, issuedAt }) => {
    const issuedMs = issuedAt.getTime();
    return offsets.get(orgId)! - (clockTimeMs(clocks, orgId, issuedMs) - issuedMs);
  };
}

function changeOf(
  tx: Tx,
  { id, type, orgId, aggregateId, occurredAt, payload }: ReceivedEvent,
  passedMs: PassedMs,
): Change | undefined {
  if (type !== "key_issued") {
    deleteKey(tx, orgId, aggregateId);
    return undefined;
  }
  const key = issuedKey(orgId, KeyIssued.decode(payload));
  const byMs = passedMs(key);
  const earlier = (at: Date) => new Date(at.getTime() - byMs);
  saveKey(tx, { ...key, issuedAt: earlier(key.issuedAt), expiresAt: earlier(key.expiresAt) });
  return keyChange({ sourceId: id, occurredAt }, key, "api_key.issued");
}
