import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { type Answered, type KeyedRequest, once } from "@wonrail/kit/idempotency";
import { replayFailed, replayRange } from "../store/deliveries";
import { lockWebhook } from "../store/webhooks";
import { type WebhookKey } from "./updateWebhook";

/** Events between two sequences, or the deliveries whose last attempt failed. */
export type ReplayWanted = { after: bigint; upTo: bigint } | "failed";

/** Deliveries of one request. */
export const MAX_REPLAY = 10_000;

/** Delivers events again. Returns the number of deliveries; a longer range takes several requests. */
export async function replayWebhook(
  { db }: { db: Database },
  { orgId, webhookId }: WebhookKey,
  wanted: ReplayWanted,
  keyed?: KeyedRequest,
): Promise<Answered<{ deliveries: number }>> {
  return tx(db, (tx) =>
    once(tx, keyed, async () => ({ deliveries: await replay(tx, { orgId, webhookId }, wanted) })),
  );
}

/** The same for an operator. */
export async function replayForOperator(
  { db }: { db: Database },
  { orgId, webhookId }: WebhookKey,
  wanted: ReplayWanted,
  operator: ActingOperator,
): Promise<number> {
  return tx(db, async (tx) => {
    const deliveries = await replay(tx, { orgId, webhookId }, wanted);
    await recordOperatorAction(tx, operator, { orgId, subject: webhookId, details: { deliveries } });
    return deliveries;
  });
}

async function replay(tx: Tx, { orgId, webhookId }: WebhookKey, wanted: ReplayWanted): Promise<number> {
  const webhook = await lockWebhook(tx, orgId, webhookId);
  if (!webhook) throw new DomainError("WHK_001");
  if (wanted === "failed") return replayFailed(tx, webhook, MAX_REPLAY);
  // Later events are delivered anyway.
  const upTo = wanted.upTo < webhook.afterSequence ? wanted.upTo : webhook.afterSequence;
  return replayRange(tx, webhook, {
    after: wanted.after,
    upTo,
    types: webhook.eventTypes,
    limit: MAX_REPLAY,
  });
}
