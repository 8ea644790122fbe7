import { type ActingOperator, requireApproval } from "@wonrail/kit/admin";
import { type Tx } from "@wonrail/kit/db";
import { type Id, newId } from "@wonrail/kit/contract/ids";
import { type JsonObject } from "@wonrail/kit/json";
import { currentContext } from "@wonrail/kit/context";
import { appendEvents, type NewEvent } from "@wonrail/kit/outbox";
import { EMPTY_CHAIN, nextAuditEntry } from "../domain/auditEntries";
import { findAuditHead, insertAuditEntry, putAuditHead } from "../store/auditEntries";
import { notifyChange, type Change } from "../store/changes";

/** An operator, or "key:<prefix>" for a partner's own request. */
export type Actor = ActingOperator | string;

export interface RecordedChange {
  orgId: Id<"org">;
  at: Date;
  actor: Actor;
  action: string;
  subject: string;
  details: JsonObject;
  /** Present when a second operator must approve the change: what it does. */
  effect?: string;
  events: NewEvent[];
  changes?: Change[];
}

/**
 * Records every change of an organisation or a key. The audit entry, the events and the notification
 * are part of the change's transaction. The caller holds the organisation's lock, so only this
 * transaction extends the chain.
 */
export async function recordChange(tx: Tx, change: RecordedChange): Promise<void> {
  const { orgId, at, actor, action, subject } = change;
  const approval = typeof actor === "string" ? {} : await approvalOf(tx, actor, change);
  const head = (await findAuditHead(tx, orgId)) ?? EMPTY_CHAIN;
  const entry = nextAuditEntry(orgId, head, {
    occurredAt: at,
    actor: typeof actor === "string" ? actor : `operator:${actor.name}`,
    action,
    subject,
    details: JSON.stringify({
      ...{ ...change.details, ...approval },
      ...(typeof actor === "object" && authorityOf(actor)),
    }),
    requestId: currentContext()?.requestId ?? newId("req"),
  });
  await insertAuditEntry(tx, entry);
  await putAuditHead(tx, orgId, entry);
  await appendEvents(tx, change.events);
  for (const word of change.changes ?? []) await notifyChange(tx, word);
}

function approvalOf(
  tx: Tx,
  actor: ActingOperator,
  { orgId, subject, effect }: RecordedChange,
): Promise<JsonObject> {
  return requireApproval(tx, actor, effect === undefined ? undefined : { orgId, subject, effect });
}

/** The operator's reason and the rights that the action was allowed by. */
function authorityOf({ reason, roles, client }: ActingOperator): JsonObject {
  return { reason, roles, ...(client === undefined ? {} : { client }) };
}
