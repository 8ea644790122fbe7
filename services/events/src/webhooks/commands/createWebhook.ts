import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Database, tx } from "@wonrail/kit/db";
import { type EventType, findLastSequence } from "../../feed";
import { type Webhook } from "../domain/webhook";
import { type Secrets } from "../secrets";
import { type CheckUrl } from "../sender/checkUrl";
import { countForInsert, FIRST_SECRET_VERSION, insertWebhook } from "../store/webhooks";

export interface WebhookDeps {
  db: Database;
  secrets: Secrets;
  checkUrl: CheckUrl;
}

export interface NewWebhookInput {
  orgId: string;
  url: string;
  eventTypes: EventType[];
  description: string;
  status: Webhook["status"];
  ordering: Webhook["ordering"];
  /** Events behind this sequence are delivered; null: only events from now on. */
  after: bigint | null;
}

/** Webhooks of one organisation. */
const MAX_WEBHOOKS = 50;

/** Makes an endpoint. The answer is the only one that shows the secret. */
export async function createWebhook(
  { db, secrets, checkUrl }: WebhookDeps,
  input: NewWebhookInput,
): Promise<{ webhook: Webhook; secret: string }> {
  await checkUrl(input.url);
  const { orgId, status, after, ...rest } = input;
  const webhookId = newId("whk");
  const { secret, sealed } = await secrets.make({ orgId, webhookId }, FIRST_SECRET_VERSION);
  const webhook = await tx(db, async (tx) => {
    if ((await countForInsert(tx, orgId)) >= MAX_WEBHOOKS)
      throw new DomainError("WHK_003", { limit: MAX_WEBHOOKS });
    const afterSequence = after ?? (await findLastSequence(tx, orgId));
    const disabledReason = status === "DISABLED" ? "REQUESTED" : null;
    return insertWebhook(tx, {
      ...rest,
      orgId,
      webhookId,
      status,
      disabledReason,
      afterSequence,
      secret: sealed,
    });
  });
  return { webhook, secret };
}
