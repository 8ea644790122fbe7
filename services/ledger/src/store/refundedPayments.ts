import { named, sql, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { won, type Won } from "@wonrail/kit/contract/money";
import type { Changes } from "../domain/book";
import { requestKey } from "../domain/types";

/** Read under the lock of the receiver's wallet, which every refund of the payment takes. */
export async function findRefundedPayments(
  tx: Tx,
  payments: { orgId: string; requestId: string }[],
): Promise<Map<string, Won>> {
  const rows = await tx.query<{ org_id: string; payment_id: string; refunded_won: bigint }>(
    named(
      "refunded_payments_find",
      sql`
        select org_id, payment_id, refunded_won from refunded_payments
        where (org_id, payment_id) in (
          select * from unnest(
            ${payments.map(({ orgId }) => idToUuid(orgId))}::uuid[],
            ${payments.map(({ requestId }) => idToUuid(requestId))}::uuid[]))`,
    ),
  );
  return new Map(
    rows.map((row) => [
      requestKey(uuidToId("org", row.org_id), uuidToId("pay", row.payment_id)),
      won(row.refunded_won),
    ]),
  );
}

export function saveRefundedPayments(tx: Tx, changes: Changes["refundedPayments"]): void {
  const rows = [...changes.values()];
  tx.push(
    named(
      "refunded_payments_save",
      sql`
        insert into refunded_payments (org_id, payment_id, amount_won, refunded_won)
        select * from unnest(
          ${rows.map(({ orgId }) => idToUuid(orgId))}::uuid[],
          ${rows.map(({ paymentRequestId }) => idToUuid(paymentRequestId))}::uuid[],
          ${rows.map(({ amountWon }) => amountWon)}::bigint[],
          ${rows.map(({ refundedWon }) => refundedWon)}::bigint[])
        on conflict (org_id, payment_id) do update set refunded_won = excluded.refunded_won`,
    ),
  );
}
