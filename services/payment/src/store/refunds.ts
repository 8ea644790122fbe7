import { named, sql, type Tx } from "@wonrail/kit/db";
import { type Refund } from "../domain/refund";

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
