import { DomainError } from "@wonrail/kit/contract/errors";
import { type Database } from "@wonrail/kit/db";
import { type WebhookKey } from "../commands/updateWebhook";
import { type Webhook } from "../domain/webhook";
import { findWebhook } from "../store/webhooks";

export async function getWebhook(
  { db }: { db: Database },
  { orgId, webhookId }: WebhookKey,
): Promise<Webhook> {
  const webhook = await findWebhook(db, orgId, webhookId);
  if (!webhook) throw new DomainError("WHK_001");
  return webhook;
}
