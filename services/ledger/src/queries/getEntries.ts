import type { Database } from "@wonrail/kit/db";
import { requestKey, type Hold } from "../domain/types";
import { findEntries, type StoredRequest } from "../store/entries";
import { findHolds } from "../store/holds";

export interface FoundEntry {
  request: StoredRequest;
  /** As it is now, when the entry placed one. */
  hold: Hold | null;
}

/** Entries by the request ids that made them, or by their own: both have the same UUID. */
export async function getEntries(db: Database, orgId: string, requestIds: string[]): Promise<FoundEntry[]> {
  const requests = await findEntries(
    db,
    requestIds.map((requestId) => ({ orgId, requestId })),
  );
  const placed = requests.filter(({ kind }) => kind === "placeHold");
  const holds = placed.length === 0 ? [] : await findHolds(db, placed);
  const byKey = new Map(holds.map((hold) => [requestKey(hold.orgId, hold.requestId), hold]));
  return requests.map((request) => ({
    request,
    hold: byKey.get(requestKey(orgId, request.requestId)) ?? null,
  }));
}
