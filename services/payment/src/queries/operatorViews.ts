import { isId } from "@wonrail/kit/contract/ids";
import { type Queryable } from "@wonrail/kit/db";
import { type SearchHit } from "@wonrail/proto/common/v1/admin";
import {
  countPending,
  findLastRebuild,
  findPayouts,
  type Pending,
  type RebuildState,
} from "../store/operatorViews";

const MOST_HITS = 20;

/** The work under way, and the last rebuild. */
export async function getOverview({
  db,
}: {
  db: Queryable;
}): Promise<Pending & { rebuild: RebuildState | undefined }> {
  return { ...(await countPending(db)), rebuild: await findLastRebuild(db) };
}

/** Finds a payout of any organisation. */
export async function search({ db }: { db: Queryable }, text: string): Promise<SearchHit[]> {
  if (!isId("pyo", text)) return [];
  const found = await findPayouts(db, text, MOST_HITS);
  return found.map(({ orgId, payoutId, status, rowCount }) => ({
    ...{ kind: "payout", id: payoutId, orgId },
    title: `${status} payout of ${rowCount} rows`,
  }));
}
