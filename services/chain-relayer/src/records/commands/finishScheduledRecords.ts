import { type Database, tx } from "@wonrail/kit/db";
import {
  FIRST_SENT_PLACE,
  listSentRecords,
  lockSentRecord,
  type SentPlace,
  type SentRecord,
} from "../store/records";
import { changeRecord } from "./changeRecord";

export interface FinishRecordsDeps {
  db: Database;
  now: () => number;
  /** How far along the records that were sent this process has looked. */
  sentWalk: { after: SentPlace };
}

/** Limit per round: each record needs a look-up among the operations, ten milliseconds in total. */
const AT_ONCE = 2_000;

/** Copies the chain's outcome of scheduled transfers to their records: status and hash. */
export async function finishScheduledRecords(deps: FinishRecordsDeps, signal: AbortSignal): Promise<void> {
  for (let more = true; more && !signal.aborted;) {
    const sent = await listSentRecords(deps.db, deps.sentWalk.after, AT_ONCE);
    const last = sent[AT_ONCE - 1];
    deps.sentWalk.after = last?.place ?? FIRST_SENT_PLACE;
    const found = sent.filter(({ settled }) => settled !== null);
    for (const one of found) if (!signal.aborted) await finish(deps, one, one.settled!);
    more = last !== undefined && found.length > 0;
  }
}

async function finish(
  { db, now }: FinishRecordsDeps,
  { place, txHash, reason }: SentRecord,
  status: "CONFIRMED" | "FAILED",
): Promise<void> {
  await tx(db, async (tx) => {
    const record = await lockSentRecord(tx, place);
    if (!record) return;
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
