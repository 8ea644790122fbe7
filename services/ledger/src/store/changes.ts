import type { Tx } from "@wonrail/kit/db";
import type { Changes } from "../domain/book";
import type { LedgerRequest, Origin } from "../domain/types";
import { insertAccounts } from "./accounts";
import { saveCancelledCharges } from "./cancelledCharges";
import { insertCancelledPayments } from "./cancelledPayments";
import { insertCredits } from "./credits";
import { insertEntries } from "./entries";
import { insertKeys } from "./requestKeys";
import { saveHeads } from "./journalHeads";
import { saveHolds } from "./holds";
import { writePostings } from "./postings";
import { saveRefundedPayments } from "./refundedPayments";
import { insertTypeBlocks } from "./typeBlocks";

/** Writes down what a batch decided: each table once, however many requests there were, and no statement waits for another's answer. */
export function writeChanges(
  tx: Tx,
  changes: Changes,
  { nowMs, origins }: { nowMs: number; origins: ReadonlyMap<LedgerRequest, Origin> },
): void {
  const { opened, answered, touched, holds, heads } = changes;
  const { cancelledCharges, cancelledPayments, refundedPayments, credits, typeBlocks } = changes;
  if (opened.length > 0) insertAccounts(tx, opened);
  if (heads.size > 0) saveHeads(tx, heads);
  if (answered.length > 0) insertEntries(tx, answered, { nowMs, origins });
  const keyed = answered.filter(({ request }) => request.key !== null).map(({ request }) => request);
  if (keyed.length > 0) insertKeys(tx, keyed, nowMs);
  const entries = answered.flatMap(({ answer: { outcome } }) =>
    outcome.status === "posted" ? [outcome.entry] : [],
  );
  if (touched.size > 0) writePostings(tx, entries, [...touched]);
  if (typeBlocks.length > 0) insertTypeBlocks(tx, typeBlocks);
  if (holds.size > 0) saveHolds(tx, [...holds], nowMs);
  if (cancelledCharges.size > 0) saveCancelledCharges(tx, cancelledCharges);
  if (cancelledPayments.length > 0) insertCancelledPayments(tx, cancelledPayments);
  if (refundedPayments.size > 0) saveRefundedPayments(tx, refundedPayments);
  if (credits.length > 0) insertCredits(tx, credits);
}
