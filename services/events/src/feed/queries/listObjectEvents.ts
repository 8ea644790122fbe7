import { type Queryable } from "@wonrail/kit/db";
import { MAX_INT64 } from "@wonrail/kit/maxInt64";
import { listEvents, type PublicEvent } from "../store/events";

/** The events of an object behind a sequence, oldest first. */
export async function listObjectEvents(
  db: Queryable,
  { limit, ...wanted }: { orgId: string; objectId: string; after: bigint; limit: number },
): Promise<{ events: PublicEvent[]; hasMore: boolean }> {
  const range = { ...wanted, upTo: MAX_INT64, types: [], isDescending: false, limit: limit + 1 };
  const rows = await listEvents(db, range);
  return { events: rows.slice(0, limit), hasMore: rows.length > limit };
}
