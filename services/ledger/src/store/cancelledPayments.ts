import { named, sql, type Tx } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import type { Changes } from "../domain/book";
import { requestKey } from "../domain/types";

/** Read under the lock of the receiver's wallet, which every cancellation of the payment takes. */
export async function findCancelledPayments(
  tx: Tx,
  payments: { orgId: string; requestId: string }[],
): Promise<Set<string>> {
  const rows = await tx.query<{ org_id: string; payment_id: string }>(
    named(
      "cancelled_payments_find",
      sql`
        select org_id, payment_id from cancelled_payments
        where (org_id, payment_id) in (
          select * from unnest(
            ${payments.map(({ orgId }) => idToUuid(orgId))}::uuid[],
            ${payments.map(({ requestId }) => idToUuid(requestId))}::uuid[]))`,
    ),
  );
  return new Set(rows.map((row) => requestKey(uuidToId("org", row.org_id), uuidToId("pay", row.payment_id))));
}

export function insertCancelledPayments(tx: Tx, rows: Changes["cancelledPayments"]): void {
  tx.push(
    named(
      "cancelled_payments_insert",
      sql`
        insert into cancelled_payments (org_id, payment_id, cancel_id)
        select * from unnest(
          ${rows.map(({ orgId }) => idToUuid(orgId))}::uuid[],
          ${rows.map(({ paymentRequestId }) => idToUuid(paymentRequestId))}::uuid[],
          ${rows.map(({ cancelRequestId }) => idToUuid(cancelRequestId))}::uuid[])`,
    ),
  );
}
