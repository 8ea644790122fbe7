import { named, sql, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import type { Changes } from "../domain/book";

export interface Credit {
  orgId: string;
  chainLogId: string;
  /** With any prefix: the entry's UUID. */
  requestId: string;
}

export async function findCredits(
  tx: Tx,
  wanted: { orgId: string; chainLogId: string }[],
): Promise<Credit[]> {
  const rows = await tx.query<{ org_id: string; chain_log_id: string; entry_id: string }>(
    named(
      "credits_find",
      sql`
        select org_id, chain_log_id, entry_id from credits
        where (org_id, chain_log_id) in (
          select * from unnest(
            ${wanted.map(({ orgId }) => idToUuid(orgId))}::uuid[],
            ${wanted.map(({ chainLogId }) => chainLogId)}::text[]))`,
    ),
  );
  return rows.map((row) => ({
    orgId: uuidToId("org", row.org_id),
    chainLogId: row.chain_log_id,
    requestId: uuidToId("jrn", row.entry_id),
  }));
}

export function insertCredits(tx: Tx, rows: Changes["credits"]): void {
  tx.push(
    named(
      "credits_insert",
      sql`
        insert into credits (org_id, chain_log_id, entry_id)
        select * from unnest(
          ${rows.map(({ orgId }) => idToUuid(orgId))}::uuid[],
          ${rows.map(({ chainLogId }) => chainLogId)}::text[],
          ${rows.map(({ requestId }) => idToUuid(requestId))}::uuid[])`,
    ),
  );
}
