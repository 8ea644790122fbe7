import type { Database } from "@wonrail/kit/db";
import type { JournalEntry } from "../domain/types";
import { listJournal as listEntries } from "../store/entries";
import { findHead } from "../store/journalHeads";
import { entryBytes, MAX_PAGE_BYTES, takePage } from "./entryBytes";

/** Lists an organisation's entries after a sequence, in commit order. A page ends early when it is full. */
export async function listJournal(
  db: Database,
  orgId: string,
  afterSequence: bigint,
  limit: number,
): Promise<{ entries: JournalEntry[]; lastSequence: bigint }> {
  // The head is read first: a later entry may then be listed beyond it, but never a head without its entry.
  const head = await findHead(db, orgId);
  const limits = { entries: limit, notesBytes: MAX_PAGE_BYTES };
  const found = head > afterSequence ? await listEntries(db, orgId, afterSequence, limits) : [];
  const entries = takePage(found, entryBytes);
  const listed = entries.at(-1)?.orgSequence ?? 0n;
  return { entries, lastSequence: listed > head ? listed : head };
}
