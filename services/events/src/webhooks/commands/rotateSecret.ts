import { DomainError } from "@wonrail/kit/contract/errors";
import { tx } from "@wonrail/kit/db";
import { type Webhook } from "../domain/webhook";
import { lockWebhook, saveWebhook } from "../store/webhooks";
import { type WebhookDeps } from "./createWebhook";
import { type WebhookKey } from "./updateWebhook";

/** Gives the endpoint a new secret. The one before signs too until the overlap ends. */
export async function rotateSecret(
  { db, secrets }: Pick<WebhookDeps, "db" | "secrets">,
  { orgId, webhookId }: WebhookKey,
  overlapMs: number,
): Promise<{ webhook: Webhook; secret: string; previousEndsAt: Date }> {
  return tx(db, async (tx) => {
    const webhook = await lockWebhook(tx, orgId, webhookId);
    if (!webhook) throw new DomainError("WHK_001");
    const { version, current } = webhook.secrets;
    const { secret, sealed } = await secrets.make({ orgId, webhookId }, version + 1);
    const previousEndsAt = new Date(Date.now() + overlapMs);
    const rotated = {
      version: version + 1,
      current: sealed,
      previous: { ...current, endsAt: previousEndsAt },
    };
    return { webhook: await saveWebhook(tx, { ...webhook, secrets: rotated }), secret, previousEndsAt };
  });
}
