import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type Refund } from "../domain/refund";

interface RefundRow {
  org_id: string;
  refund_id: string;
  wallet_id: string;
  amount_won: bigint;
  memo: string | null;
  created_at: Date;
}

export function insertRefunds(tx: Tx, refunds: Refund[]): void {
  tx.push(
    named(
      "refunds_insert",
      sql`
        insert into refunds (org_id, refund_id, wallet_id, amount_won, memo, created_at)
        select * from unnest(
          ${refunds.map((refund) => refund.orgId)}::text[],
          ${refunds.map((refund) => refund.refundId)}::text[],
          ${refunds.map((refund) => refund.walletId)}::text[],
          ${refunds.map((refund) => refund.amountWon)}::bigint[],
          ${refunds.map((refund) => refund.memo)}::text[],
          ${refunds.map((refund) => refund.createdAt)}::timestamptz[])
        order by 1, 2`,
    ),
  );
}

export async function findRefund(
  db: Queryable,
  orgId: string,
  refundId: string,
): Promise<Refund | undefined> {
  const row = await db.maybe<RefundRow>(
    sql`select * from refunds where org_id = ${orgId} and refund_id = ${refundId}`,
  );
  return row && fromRow(row);
}

function fromRow(row: RefundRow): Refund {
  return {
    orgId: row.org_id,
    refundId: row.refund_id,
    walletId: row.wallet_id,
    amountWon: won(row.amount_won),
    memo: row.memo,
    createdAt: row.created_at,
  };
}
