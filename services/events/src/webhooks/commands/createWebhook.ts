import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Database, type Tx, tx } from "@wonrail/kit/db";
import { type EventType, findKeptRange } from "../../feed";
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
    const afterSequence = await startOf(tx, orgId, after);
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

/** The cursor of a new endpoint. */
async function startOf(tx: Tx, orgId: string, after: bigint | null): Promise<bigint> {
  const { oldest, last } = await findKeptRange(tx, orgId);
  if (after === null) return last;
  if (after < oldest - 1n) throw new DomainError("EVT_002", { oldestAfter: (oldest - 1n).toString() });
  if (after > last)
    throw invalidRequest([{ path: "after", message: `must be at most ${last}, the newest event` }]);
  return after;
}
