import type { Tx } from "@wonrail/kit/db";
import type { Changes } from "../domain/book";
import { insertAccounts } from "./accounts";
import { saveCancelledCharges } from "./cancelledCharges";
import { insertCancelledPayments } from "./cancelledPayments";
import { insertCredits } from "./credits";
import { insertEntries } from "./entries";
import { saveHolds } from "./holds";
import { writePostings } from "./postings";
import { insertTypeBlocks } from "./typeBlocks";

/** Writes down what a batch decided: each table once, however many requests there were. */
export async function writeChanges(
  tx: Tx,
  changes: Changes,
  nowMs: number,
  onWriting: () => void,
): Promise<void> {
  const { opened, answered, touched, holds, cancelledCharges, cancelledPayments, credits, typeBlocks } =
    changes;
  if (opened.length > 0) await insertAccounts(tx, opened);
  if (answered.length > 0) await insertEntries(tx, answered, nowMs);
  const entries = answered.flatMap(({ answer: { outcome } }) =>
    outcome.status === "posted" ? [outcome.entry] : [],
  );
  const writing = writePostings(tx, entries, [...touched]);
  onWriting();
  await writing;
  if (typeBlocks.length > 0) await insertTypeBlocks(tx, typeBlocks);
  if (holds.size > 0) await saveHolds(tx, [...holds], nowMs);
  if (cancelledCharges.size > 0) await saveCancelledCharges(tx, cancelledCharges);
  if (cancelledPayments.length > 0) await insertCancelledPayments(tx, cancelledPayments);
  if (credits.length > 0) await insertCredits(tx, credits);
}
