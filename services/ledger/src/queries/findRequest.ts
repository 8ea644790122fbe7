import type { Database } from "@wonrail/kit/db";
import { idTimeMs } from "@wonrail/kit/contract/ids";
import { findEntries } from "../store/entries";
import { hasLeft, readJournalWindow } from "../store/partitions";

/** What became of a request, or may still: RequestPlace of the contract. */
export type RequestPlace = "JOURNAL" | "OPEN" | "ARCHIVE" | "NOWHERE" | "UNKNOWN";

/**
 * The months are asked of the database, since what a process has read of them may be old. They only go on: what has left once is not taken again, and who was
 * posting into a month as it left is in what has left.
 */
export async function findRequest(db: Database, orgId: string, requestId: string): Promise<RequestPlace> {
  const { fromMs } = await readJournalWindow(db);
  if (idTimeMs(requestId) >= fromMs)
    return (await findEntries(db, [{ orgId, requestId }])).length > 0 ? "JOURNAL" : "OPEN";
  const left = await hasLeft(db, { orgId, requestId });
  if (left === undefined) return "UNKNOWN";
  return left ? "ARCHIVE" : "NOWHERE";
}
