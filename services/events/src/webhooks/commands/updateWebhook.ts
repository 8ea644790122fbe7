import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { DomainError } from "@wonrail/kit/contract/errors";
import { tx } from "@wonrail/kit/db";
import { type EventType } from "../../feed";
import { type Webhook } from "../domain/webhook";
import { lockWebhook, saveWebhook, type StoredWebhook } from "../store/webhooks";
import { type WebhookDeps } from "./createWebhook";

export interface WebhookKey {
  orgId: string;
  webhookId: string;
}

export interface WebhookChange {
  url?: string | undefined;
  eventTypes?: EventType[] | undefined;
  description?: string | undefined;
  status?: Webhook["status"] | undefined;
  ordering?: Webhook["ordering"] | undefined;
}

/** Changes the given fields. An enabled endpoint goes on behind its last event. */
export async function updateWebhook(
  { db, checkUrl }: Pick<WebhookDeps, "db" | "checkUrl">,
  { orgId, webhookId }: WebhookKey,
  change: WebhookChange,
): Promise<Webhook> {
  if (change.url !== undefined) await checkUrl(change.url);
  return tx(db, async (tx) => {
    const webhook = await lockWebhook(tx, orgId, webhookId);
    if (!webhook) throw new DomainError("WHK_001");
    return saveWebhook(tx, changed(webhook, change));
  });
}

/** Enables an endpoint for an operator. */
export async function enableWebhook(
  { db }: Pick<WebhookDeps, "db">,
  { orgId, webhookId }: WebhookKey,
  operator: ActingOperator,
): Promise<void> {
  await tx(db, async (tx) => {
    const webhook = await lockWebhook(tx, orgId, webhookId);
    if (!webhook) throw new DomainError("WHK_001");
    await saveWebhook(tx, changed(webhook, { status: "ENABLED" }));
    await recordOperatorAction(tx, operator, { orgId, subject: webhookId });
  });
}

function changed(webhook: StoredWebhook, { status, ...change }: WebhookChange): StoredWebhook {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const next = { ...webhook, ...given };
  if (status === undefined || status === webhook.status) return next;
  if (status === "DISABLED") return { ...next, status, disabledReason: "REQUESTED" };
  return { ...next, status, disabledReason: null, failingSince: null, warnedPercent: 0 };
}
