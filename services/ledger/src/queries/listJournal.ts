import type { Database } from "@wonrail/kit/db";
import type { Entry } from "../domain/types";
import { listJournal as listEntries } from "../store/entries";
import { findHead } from "../store/journalHeads";

/** Lists an organisation's entries after a sequence, in commit order. */
export async function listJournal(
  db: Database,
  orgId: string,
  afterSequence: bigint,
  limit: number,
): Promise<{ entries: Entry[]; lastSequence: bigint }> {
  // The head is read first: a later entry may then be listed beyond it, but never a head without
  // its entry.
  const head = await findHead(db, orgId);
  const entries = head > afterSequence ? await listEntries(db, orgId, afterSequence, limit) : [];
  const listed = entries.at(-1)?.orgSequence ?? 0n;
  return { entries, lastSequence: listed > head ? listed : head };
}
