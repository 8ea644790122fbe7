import { DomainError } from "@wonrail/kit/contract/errors";
import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { type Answered, type KeyedRequest, once } from "@wonrail/kit/idempotency";
import { replayFailed, replayRange } from "../store/deliveries";
import { lockWebhook, type StoredWebhook } from "../store/webhooks";
import { type WebhookKey } from "./updateWebhook";

/** Events between two sequences, or the deliveries without an attempt left. */
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
    once(tx, keyed, async () => {
      const webhook = await lockWebhook(tx, orgId, webhookId);
      if (!webhook) throw new DomainError("WHK_001");
      return { deliveries: await replay(tx, webhook, wanted) };
    }),
  );
}

function replay(tx: Tx, webhook: StoredWebhook, wanted: ReplayWanted): Promise<number> {
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
