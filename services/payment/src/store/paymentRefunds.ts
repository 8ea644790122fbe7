import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type PaymentRefund } from "@wonrail/kit/records";
import { notesArrays, notesFromRow, type NotesRow } from "./notes";

/** A payment can be refunded in any number of parts. */
const MAX_SHOWN_REFUNDS = 100;

interface PaymentRefundRow extends NotesRow {
  org_id: string;
  refund_id: string;
  payment_id: string;
  amount_won: bigint;
  restored_incentive_won: bigint;
  restored_normal_won: bigint;
  clawed_back_won: bigint;
  kept_won: bigint;
  version: bigint;
  created_at: Date;
}

/** Keeps the newest version of each row. */
export function savePaymentRefunds(tx: Tx, refunds: PaymentRefund[]): void {
  tx.push(
    named(
      "payment_refunds_save",
      sql`
        insert into payment_refunds (org_id, refund_id, payment_id, amount_won, restored_incentive_won,
          restored_normal_won, clawed_back_won, kept_won, memo, reference, metadata, version, created_at)
        select * from unnest(
          ${refunds.map((refund) => refund.orgId)}::text[],
          ${refunds.map((refund) => refund.refundId)}::text[],
          ${refunds.map((refund) => refund.paymentId)}::text[],
          ${refunds.map((refund) => refund.amountWon)}::bigint[],
          ${refunds.map((refund) => refund.restoredIncentiveWon)}::bigint[],
          ${refunds.map((refund) => refund.restoredNormalWon)}::bigint[],
          ${refunds.map((refund) => refund.clawedBackWon)}::bigint[],
          ${refunds.map((refund) => refund.keptWon)}::bigint[],
          ${notesArrays(refunds)},
          ${refunds.map((refund) => refund.version)}::bigint[],
          ${refunds.map((refund) => refund.createdAt)}::timestamptz[])
        order by 1, 2
        on conflict (org_id, refund_id) do update set
          payment_id = excluded.payment_id, amount_won = excluded.amount_won,
          restored_incentive_won = excluded.restored_incentive_won,
          restored_normal_won = excluded.restored_normal_won, clawed_back_won = excluded.clawed_back_won,
          kept_won = excluded.kept_won, memo = excluded.memo, reference = excluded.reference,
          metadata = excluded.metadata, version = excluded.version, created_at = excluded.created_at
        where payment_refunds.version < excluded.version`,
    ),
  );
}

export async function findPaymentRefund(
  db: Queryable,
  orgId: string,
  refundId: string,
): Promise<PaymentRefund | undefined> {
  const row = await db.maybe<PaymentRefundRow>(
    sql`select * from payment_refunds where org_id = ${orgId} and refund_id = ${refundId}`,
  );
  return row && fromRow(row);
}

/** The newest refunds of a payment, oldest first. */
export async function listPaymentRefunds(
  db: Queryable,
  orgId: string,
  paymentId: string,
): Promise<PaymentRefund[]> {
  const rows = await db.query<PaymentRefundRow>(sql`
    select * from payment_refunds where org_id = ${orgId} and payment_id = ${paymentId}
    order by refund_id desc limit ${MAX_SHOWN_REFUNDS}`);
  return rows.reverse().map(fromRow);
}

function fromRow(row: PaymentRefundRow): PaymentRefund {
  return {
    orgId: row.org_id,
    refundId: row.refund_id,
    paymentId: row.payment_id,
    amountWon: won(row.amount_won),
    restoredIncentiveWon: won(row.restored_incentive_won),
    restoredNormalWon: won(row.restored_normal_won),
    clawedBackWon: won(row.clawed_back_won),
    keptWon: won(row.kept_won),
    ...notesFromRow(row),
    version: row.version,
    createdAt: row.created_at,
  };
}
