import { named, sql, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { reopenedKey } from "../domain/accounts";
import type { Turn } from "../domain/book";

/** How often each was opened again. Read under the account's lock, which everybody takes who opens one. */
export async function findReopened(
  tx: Tx,
  wallets: { orgId: string; walletId: string }[],
): Promise<Map<string, number>> {
  const rows = await tx.query<{ org_id: string; account_id: string; times: number }>(
    named(
      "reopened_accounts_find",
      sql`
        select org_id, account_id, max(times) as times from reopened_accounts
        where (org_id, account_id) in (
          select * from unnest(
            ${wallets.map(({ orgId }) => idToUuid(orgId))}::uuid[],
            ${wallets.map(({ walletId }) => idToUuid(walletId))}::uuid[]))
        group by org_id, account_id`,
    ),
  );
  return new Map(
    rows.map((row) => [reopenedKey(uuidToId("org", row.org_id), uuidToId("wal", row.account_id)), row.times]),
  );
}

export function insertReopened(tx: Tx, turns: Turn[]): void {
  tx.push(
    named(
      "reopened_accounts_insert",
      sql`
        insert into reopened_accounts (org_id, account_id, times, entry_id)
        select * from unnest(
          ${turns.map(({ account }) => idToUuid(account.orgId))}::uuid[],
          ${turns.map(({ account }) => idToUuid(account.id))}::uuid[],
          ${turns.map(({ version }) => (version - 1) / 2)}::integer[],
          ${turns.map(({ request }) => idToUuid(request.requestId))}::uuid[])`,
    ),
  );
}
