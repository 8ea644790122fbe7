import type { Database } from "@wonrail/kit/db";
import type { JournalEntry } from "../domain/types";
import { findCancellations } from "../store/entries";
import { findRequestsById, findRequestSource, type RequestSource } from "../store/searches";
import { getEntries, type RequestState } from "./getEntries";

export interface EntryDetails extends RequestSource {
  orgId: string;
  request: RequestState;
  /** The entries that post or void the request's hold, oldest first. */
  holdEndings: Omit<JournalEntry, "origin">[];
}

/** A hold ends once. A few more would be shown if the books were broken. */
const MOST_ENDINGS = 10;

/** Everything that the ledger keeps of a request. Undefined when there is none. */
export async function getEntryDetails(
  db: Database,
  { orgId: wanted, requestId }: { orgId: string | undefined; requestId: string },
): Promise<EntryDetails | undefined> {
  const orgId = wanted ?? (await findRequestsById(db, requestId, 1))[0]?.orgId;
  if (orgId === undefined) return undefined;
  const key = { orgId, requestId };
  const source = await findRequestSource(db, key);
  const [request] = (await getEntries(db, orgId, [requestId])).requests;
  if (!source || !request) return undefined;
  const holdEndings = request.hold === null ? [] : await findCancellations(db, [key], MOST_ENDINGS);
  return { orgId, ...source, request, holdEndings };
}
