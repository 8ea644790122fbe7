import { type Database, tx } from "@wonrail/kit/db";
import { lockRecord, type SentRecord, takeSentRecords } from "../store/records";
import { changeRecord } from "./changeRecord";

const AT_ONCE = 500;
const AGAIN_MS = 1_000;

/** What the chain has settled of the transfers that scheduled records became: their status and hash. */
export async function finishScheduledRecords(
  deps: { db: Database; now: () => number },
  signal: AbortSignal,
): Promise<void> {
  for (let more = true; more && !signal.aborted;) {
    const sent = await tx(deps.db, (tx) => takeSentRecords(tx, AGAIN_MS, AT_ONCE));
    for (const one of sent) if (one.settled !== null) await finish(deps, one, one.settled);
    more = sent.length === AT_ONCE;
  }
}

async function finish(
  { db, now }: { db: Database; now: () => number },
  { key, txHash, reason }: SentRecord,
  status: "CONFIRMED" | "FAILED",
): Promise<void> {
  await tx(db, async (tx) => {
    const record = await lockRecord(tx, key);
    if (record?.run !== "SENT") return;
    const failureReason = status === "FAILED" ? reason : null;
    await changeRecord(tx, record, {
      to: { status, failureReason, txHash: txHash?.toLowerCase() ?? null, run: "DONE" },
      runAt: null,
      reason: failureReason,
      changedBy: "chain",
      nowMs: now(),
    });
  });
}
