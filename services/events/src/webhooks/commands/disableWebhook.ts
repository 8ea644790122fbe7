import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Database, tx } from "@wonrail/kit/db";
import { publishChanges } from "../../feed";
import { webhookChange } from "../domain/webhook";
import { lockWebhook, saveWebhook } from "../store/webhooks";
import { type WebhookKey } from "./updateWebhook";

/** Disables an endpoint for an operator, and tells the organisation by the event webhook.disabled. */
export async function disableWebhook(
  { db }: { db: Database },
  { orgId, webhookId }: WebhookKey,
  operator: ActingOperator,
): Promise<void> {
  await tx(db, async (tx) => {
    const webhook = await lockWebhook(tx, orgId, webhookId);
    if (!webhook) throw new DomainError("WHK_001");
    if (webhook.status === "DISABLED") return;
    const disabled = await saveWebhook(tx, { ...webhook, status: "DISABLED", disabledReason: "OPERATOR" });
    const change = webhookChange(disabled, "webhook.disabled", newId("evt"));
    await publishChanges(tx, [change], () => [change]);
    await recordOperatorAction(tx, operator, { orgId, subject: webhookId });
  });
}
