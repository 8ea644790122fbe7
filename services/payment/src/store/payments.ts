import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type CancelAmounts, type Payment, type PaymentCancel } from "../domain/payment";

interface PaymentRow {
  org_id: string;
  payment_id: string;
  status: Payment["status"];
  payer_wallet_id: string;
  receiver_wallet_id: string;
  amount_won: bigint;
  government_won: bigint;
  incentive_won: bigint;
  normal_won: bigint;
  accrued_won: bigint;
  memo: string | null;
  cancel_id: string | null;
  cancel_memo: string | null;
  cancelled_at: Date | null;
  restored_incentive_won: bigint | null;
  restored_normal_won: bigint | null;
  clawed_back_won: bigint | null;
  kept_won: bigint | null;
  version: bigint;
  created_at: Date;
  updated_at: Date;
}

export function insertPayments(tx: Tx, payments: Payment[]): void {
  tx.push(
    named(
      "payments_insert",
      sql`
        insert into payments (org_id, payment_id, status, payer_wallet_id, receiver_wallet_id, amount_won, government_won,
          incentive_won, normal_won, accrued_won, memo, created_at)
        select org_id, payment_id, 'PAID', payer, receiver, amount, government, incentive, normal, accrued, memo, created_at from unnest(
          ${payments.map((payment) => payment.orgId)}::text[],
          ${payments.map((payment) => payment.paymentId)}::text[],
          ${payments.map((payment) => payment.payerWalletId)}::text[],
          ${payments.map((payment) => payment.receiverWalletId)}::text[],
          ${payments.map((payment) => payment.amountWon)}::bigint[],
          ${payments.map((payment) => payment.governmentWon)}::bigint[],
          ${payments.map((payment) => payment.incentiveWon)}::bigint[],
          ${payments.map((payment) => payment.normalWon)}::bigint[],
          ${payments.map((payment) => payment.accruedWon)}::bigint[],
          ${payments.map((payment) => payment.memo)}::text[],
          ${payments.map((payment) => payment.createdAt)}::timestamptz[])
          as made (org_id, payment_id, payer, receiver, amount, government, incentive, normal, accrued, memo, created_at)
        order by 1, 2`,
    ),
  );
}

/** Undefined when the payment itself is not written down yet. */
export async function cancelPayment(
  tx: Tx,
  orgId: string,
  paymentId: string,
  { cancelId, memo, createdAt, amounts }: PaymentCancel & { amounts: CancelAmounts },
): Promise<Payment | undefined> {
  const row = await tx.maybe<PaymentRow>(sql`
    update payments set status = 'CANCELLED', cancel_id = ${cancelId}, cancel_memo = ${memo}, cancelled_at = ${createdAt},
      restored_incentive_won = ${amounts.restoredIncentiveWon}, restored_normal_won = ${amounts.restoredNormalWon},
      clawed_back_won = ${amounts.clawedBackWon}, kept_won = ${amounts.keptWon}, version = version + 1, updated_at = now()
    where org_id = ${orgId} and payment_id = ${paymentId} and cancel_id is null returning *`);
  return row && fromRow(row);
}

export async function findPayment(
  db: Queryable,
  orgId: string,
  paymentId: string,
): Promise<Payment | undefined> {
  const row = await db.maybe<PaymentRow>(
    sql`select * from payments where org_id = ${orgId} and payment_id = ${paymentId}`,
  );
  return row && fromRow(row);
}

/** Paid or received by a wallet, or all of the organisation's. Newest first. */
export async function listPayments(
  db: Queryable,
  orgId: string,
  walletId: string | null,
  page: Page,
): Promise<{ rows: Payment[]; total: number }> {
  const after = page.after === null ? sql`` : sql`and payment_id < ${page.after}`;
  // Each side walks its own index; together they hold the page. Nobody pays himself, so no row is found twice.
  const sides =
    walletId === null
      ? [sql``]
      : [sql`and payer_wallet_id = ${walletId}`, sql`and receiver_wallet_id = ${walletId}`];
  const newest = (columns: Sql, behind: Sql, reach: number) => {
    const walks = sides.map(
      (side) =>
        sql`(select ${columns} from payments where org_id = ${orgId} ${side} ${behind} order by payment_id desc limit ${reach})`,
    );
    return sql.join(walks, sql` union all `);
  };
  const rows = await db.query<PaymentRow>(sql`
    select * from (${newest(sql`*`, after, page.offset + rowsToRead(page))}) as found
    order by payment_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  const { total } = await db.one<{ total: bigint }>(sql`
    select count(*) as total from (
      select from (${newest(sql`payment_id`, sql``, MAX_OFFSET_ROWS + 1)}) as found limit ${MAX_OFFSET_ROWS + 1}) as counted`);
  return { rows: rows.map(fromRow), total: Number(total) };
}

function fromRow(row: PaymentRow): Payment {
  return {
    orgId: row.org_id,
    paymentId: row.payment_id,
    status: row.status,
    payerWalletId: row.payer_wallet_id,
    receiverWalletId: row.receiver_wallet_id,
    amountWon: won(row.amount_won),
    governmentWon: won(row.government_won),
    incentiveWon: won(row.incentive_won),
    normalWon: won(row.normal_won),
    accruedWon: won(row.accrued_won),
    memo: row.memo,
    cancel: toCancel(row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toCancel(row: PaymentRow): PaymentCancel | null {
  const { cancel_id: cancelId, cancel_memo: memo, cancelled_at: cancelledAt } = row;
  if (cancelId === null) return null;
  // Of what an earlier release has cancelled: when it wrote that down.
  return { cancelId, memo, createdAt: cancelledAt ?? row.updated_at, amounts: toAmounts(row) };
}

/** All of them are there, or none. */
function toAmounts(row: PaymentRow): CancelAmounts | null {
  if (row.kept_won === null) return null;
  return {
    restoredIncentiveWon: won(row.restored_incentive_won!),
    restoredNormalWon: won(row.restored_normal_won!),
    clawedBackWon: won(row.clawed_back_won!),
    keptWon: won(row.kept_won),
  };
}
