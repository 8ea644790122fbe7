import { named, sql, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { won, type Won } from "@wonrail/kit/contract/money";
import type { Changes } from "../domain/book";
import { requestKey } from "../domain/types";

/** Read under the lock of the charge's wallet, which every cancellation takes. */
export async function findCancelledCharges(
  tx: Tx,
  charges: { orgId: string; requestId: string }[],
): Promise<Map<string, Won>> {
  const rows = await tx.query<{ org_id: string; charge_id: string; cancelled_won: bigint }>(
    named(
      "cancelled_charges_find",
      sql`
        select org_id, charge_id, cancelled_won from cancelled_charges
        where (org_id, charge_id) in (
          select * from unnest(
            ${charges.map(({ orgId }) => idToUuid(orgId))}::uuid[],
            ${charges.map(({ requestId }) => idToUuid(requestId))}::uuid[]))`,
    ),
  );
  return new Map(
    rows.map((row) => [
      requestKey(uuidToId("org", row.org_id), uuidToId("chg", row.charge_id)),
      won(row.cancelled_won),
    ]),
  );
}

export function saveCancelledCharges(tx: Tx, changes: Changes["cancelledCharges"]): void {
  const rows = [...changes.values()];
  tx.push(
    named(
      "cancelled_charges_save",
      sql`
        insert into cancelled_charges (org_id, charge_id, amount_won, cancelled_won)
        select * from unnest(
          ${rows.map(({ orgId }) => idToUuid(orgId))}::uuid[],
          ${rows.map(({ chargeRequestId }) => idToUuid(chargeRequestId))}::uuid[],
          ${rows.map(({ amountWon }) => amountWon)}::bigint[],
          ${rows.map(({ cancelledWon }) => cancelledWon)}::bigint[])
        on conflict (org_id, charge_id) do update set cancelled_won = excluded.cancelled_won`,
    ),
  );
}
