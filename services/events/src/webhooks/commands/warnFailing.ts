import { newId } from "@wonrail/kit/contract/ids";
import { type Database, tx } from "@wonrail/kit/db";
import { type Change, publishChanges } from "../../feed";
import { FAILING_MS, warningDue } from "../domain/retries";
import { webhookChange } from "../domain/webhook";
import { lockFailing, saveWebhook, type StoredWebhook } from "../store/webhooks";

const BATCH_SIZE = 200;
const FIRST_WARNING_MS = FAILING_MS / 2;

/** Warns of endpoints that fail for long, at 50 and 75 percent of five days, and then disables them. */
export async function warnFailing({ db }: { db: Database }): Promise<void> {
  await tx(db, async (tx) => {
    const failing = await lockFailing(tx, FIRST_WARNING_MS, BATCH_SIZE);
    const due = failing.flatMap((webhook) => {
      const percent = warningDue(webhook.failingMs, webhook.warnedPercent);
      return percent === 0 ? [] : [{ webhook, percent }];
    });
    const changes: Change[] = [];
    for (const { webhook, percent } of due) {
      const saved = await saveWebhook(tx, warned(webhook, percent));
      const type = percent === 100 ? "webhook.disabled" : "webhook.failing";
      changes.push(webhookChange(saved, type, newId("evt")));
    }
    if (changes.length > 0) await publishChanges(tx, changes, () => changes);
  });
}

function warned(webhook: StoredWebhook, percent: number): StoredWebhook {
  const next = { ...webhook, warnedPercent: percent };
  return percent === 100 ? { ...next, status: "DISABLED", disabledReason: "FAILING" } : next;
}
