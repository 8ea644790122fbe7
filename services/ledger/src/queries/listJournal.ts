import { smallest } from "@wonrail/kit/contract/bigints";
import type { Queryable } from "@wonrail/kit/db";
import type { JournalEntry } from "../domain/types";
import { listJournal as listEntries } from "../store/entries";
import { findHead } from "../store/journalHeads";
import { entryBytes, MAX_PAGE_BYTES, takePage } from "./entryBytes";

/** Lists an organisation's entries after a sequence, in commit order. A page ends early when it is full. */
export async function listJournal(
  db: Queryable,
  orgId: string,
  afterSequence: bigint,
  limit: number,
): Promise<{ entries: JournalEntry[]; lastSequence: bigint }> {
  const head = await findHead(db, orgId);
  const entries = takePage(
    await findAfter(db, orgId, { after: afterSequence, upTo: head }, limit),
    entryBytes,
  );
  return { entries, lastSequence: head };
}

/**
 * Reads only the sequences of one page, because sequences have no gaps but detached entries. A page
 * with such a gap is read again, without an end.
 */
async function findAfter(
  db: Queryable,
  orgId: string,
  { after, upTo }: { after: bigint; upTo: bigint },
  limit: number,
): Promise<JournalEntry[]> {
  if (upTo <= after) return [];
  const limits = { entries: limit, notesBytes: MAX_PAGE_BYTES };
  const end = smallest(after + BigInt(limit), upTo);
  const page = await listEntries(db, orgId, { after, upTo: end }, limits);
  const isComplete = page.at(-1)?.orgSequence === end;
  return isComplete ? page : listEntries(db, orgId, { after, upTo }, limits);
}
