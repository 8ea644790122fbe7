import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { type Database, type Tx, tx } from "@wonrail/kit/db";
import { findKey, type KeyedRequest, once } from "@wonrail/kit/idempotency";
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
  keyed?: KeyedRequest | undefined;
}

/** Webhooks of one organisation. */
const MAX_WEBHOOKS = 50;

/**
 * Makes an endpoint and shows its secret. A repetition with the same Idempotency-Key gets the secret
 * again: the stored answer has it sealed.
 */
export async function createWebhook(
  { db, secrets, checkUrl }: WebhookDeps,
  input: NewWebhookInput,
): Promise<{ webhook: Webhook; secret: string; replayed: boolean }> {
  const { orgId, status, after, keyed, ...rest } = input;
  // A repetition gets its answer even if the host has another address by now.
  const isRepeated = keyed !== undefined && (await findKey(db, keyed)) !== undefined;
  if (!isRepeated) await checkUrl(input.url);
  const webhookId = newId("whk");
  const { sealed } = await secrets.make({ orgId, webhookId }, FIRST_SECRET_VERSION);
  const { answer: webhook, replayed } = await tx(db, (tx) =>
    once(tx, keyed, async () => {
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
    }),
  );
  const [secret] = await secrets.open(webhook, webhook.secrets);
  return { webhook, secret: secret!, replayed };
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
