import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type Refund } from "@wonrail/kit/records";
import { listRows, type ListTable, type ListWanted, type RowsFound } from "./listRows";
import { notesArrays, notesFromRow, type NotesRow } from "./notes";

interface RefundRow extends NotesRow {
  org_id: string;
  refund_id: string;
  wallet_id: string;
  amount_won: bigint;
  version: bigint;
  created_at: Date;
}

/** Keeps the newest version of each row. */
export function saveRefunds(tx: Tx, refunds: Refund[]): void {
  tx.push(
    named(
      "refunds_save",
      sql`
        insert into refunds (org_id, refund_id, wallet_id, amount_won, memo, reference, metadata, version, created_at)
        select * from unnest(
          ${refunds.map((refund) => refund.orgId)}::text[],
          ${refunds.map((refund) => refund.refundId)}::text[],
          ${refunds.map((refund) => refund.walletId)}::text[],
          ${refunds.map((refund) => refund.amountWon)}::bigint[],
          ${notesArrays(refunds)},
          ${refunds.map((refund) => refund.version)}::bigint[],
          ${refunds.map((refund) => refund.createdAt)}::timestamptz[])
        order by 1, 2
        on conflict (org_id, refund_id) do update set
          wallet_id = excluded.wallet_id, amount_won = excluded.amount_won, memo = excluded.memo,
          reference = excluded.reference, metadata = excluded.metadata, version = excluded.version,
          created_at = excluded.created_at
        where refunds.version < excluded.version`,
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

const TABLE: ListTable = {
  name: sql`refunds`,
  id: sql`refund_id`,
  idPrefix: "rfd_",
  wallets: [sql`wallet_id`],
};

export async function listRefunds(db: Queryable, wanted: ListWanted<never>): Promise<RowsFound<Refund>> {
  const found = await listRows<RefundRow>(db, TABLE, wanted);
  return { ...found, rows: found.rows.map(fromRow) };
}

function fromRow(row: RefundRow): Refund {
  return {
    orgId: row.org_id,
    refundId: row.refund_id,
    walletId: row.wallet_id,
    amountWon: won(row.amount_won),
    ...notesFromRow(row),
    version: row.version,
    createdAt: row.created_at,
  };
}
