import { DomainError } from "@wonrail/kit/contract/errors";
import { tx, type Tx } from "@wonrail/kit/db";
import { type KeyedRequest, once } from "@wonrail/kit/idempotency";
import { type Webhook } from "../domain/webhook";
import { type Secrets } from "../secrets";
import { lockWebhook, saveWebhook, type StoredWebhook } from "../store/webhooks";
import { type WebhookDeps } from "./createWebhook";
import { type WebhookKey } from "./updateWebhook";

/**
 * Gives the endpoint a new secret. The one before signs too until the overlap ends. The stored
 * answer of a keyed request has the secret sealed.
 */
export async function rotateSecret(
  { db, secrets }: Pick<WebhookDeps, "db" | "secrets">,
  { orgId, webhookId }: WebhookKey,
  overlapMs: number,
  keyed?: KeyedRequest,
): Promise<{ webhook: Webhook; secret: string; previousEndsAt: Date; replayed: boolean }> {
  const { answer: webhook, replayed } = await tx(db, (tx) =>
    once(tx, keyed, async () => rotated(tx, secrets, { orgId, webhookId }, overlapMs)),
  );
  const [secret] = await secrets.open(webhook, webhook.secrets);
  return { webhook, secret: secret!, previousEndsAt: webhook.secrets.previous!.endsAt, replayed };
}

async function rotated(
  tx: Tx,
  secrets: Secrets,
  { orgId, webhookId }: WebhookKey,
  overlapMs: number,
): Promise<StoredWebhook> {
  const webhook = await lockWebhook(tx, orgId, webhookId);
  if (!webhook) throw new DomainError("WHK_001");
  const { version, current } = webhook.secrets;
  const { sealed } = await secrets.make({ orgId, webhookId }, version + 1);
  const endsAt = new Date(Date.now() + overlapMs);
  const renewed = { version: version + 1, current: sealed, previous: { ...current, endsAt } };
  return saveWebhook(tx, { ...webhook, secrets: renewed });
}
