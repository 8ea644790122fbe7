import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type Payment, type PaymentCancel } from "@wonrail/kit/records";
import { listRows, type ListTable, type ListWanted, type RowsFound, type StatusFilter } from "./listRows";
import { notesArrays, notesFromRow, type NotesRow } from "./notes";

export type PaymentStatus = "PAID" | "PARTIALLY_REFUNDED" | "REFUNDED" | "CANCELLED";

interface PaymentRow extends NotesRow {
  org_id: string;
  payment_id: string;
  payer_wallet_id: string;
  receiver_wallet_id: string;
  amount_won: bigint;
  government_won: bigint;
  incentive_won: bigint;
  normal_won: bigint;
  accrued_won: bigint;
  refunded_won: bigint;
  cancel_id: string | null;
  restored_incentive_won: bigint | null;
  restored_normal_won: bigint | null;
  clawed_back_won: bigint | null;
  kept_won: bigint | null;
  cancel_memo: string | null;
  cancel_reference: string | null;
  cancel_metadata: Record<string, string> | null;
  cancelled_at: Date | null;
  version: bigint;
  created_at: Date;
}

/** Keeps the newest version of each row. */
export function savePayments(tx: Tx, payments: Payment[]): void {
  const cancels = payments.map(({ cancel }) => cancel);
  tx.push(
    named(
      "payments_save",
      sql`
        insert into payments (org_id, payment_id, payer_wallet_id, receiver_wallet_id, amount_won, government_won,
          incentive_won, normal_won, accrued_won, refunded_won, memo, reference, metadata, version, created_at,
          cancel_id, restored_incentive_won, restored_normal_won, clawed_back_won, kept_won,
          cancel_memo, cancel_reference, cancel_metadata, cancelled_at)
        select * from unnest(
          ${payments.map((payment) => payment.orgId)}::text[],
          ${payments.map((payment) => payment.paymentId)}::text[],
          ${payments.map((payment) => payment.payerWalletId)}::text[],
          ${payments.map((payment) => payment.receiverWalletId)}::text[],
          ${payments.map((payment) => payment.amountWon)}::bigint[],
          ${payments.map((payment) => payment.governmentWon)}::bigint[],
          ${payments.map((payment) => payment.incentiveWon)}::bigint[],
          ${payments.map((payment) => payment.normalWon)}::bigint[],
          ${payments.map((payment) => payment.accruedWon)}::bigint[],
          ${payments.map((payment) => payment.refundedWon)}::bigint[],
          ${notesArrays(payments)},
          ${payments.map((payment) => payment.version)}::bigint[],
          ${payments.map((payment) => payment.createdAt)}::timestamptz[],
          ${cancels.map((cancel) => cancel?.cancelId ?? null)}::text[],
          ${cancels.map((cancel) => cancel?.restoredIncentiveWon ?? null)}::bigint[],
          ${cancels.map((cancel) => cancel?.restoredNormalWon ?? null)}::bigint[],
          ${cancels.map((cancel) => cancel?.clawedBackWon ?? null)}::bigint[],
          ${cancels.map((cancel) => cancel?.keptWon ?? null)}::bigint[],
          ${notesArrays(cancels)},
          ${cancels.map((cancel) => cancel?.createdAt ?? null)}::timestamptz[])
        order by 1, 2
        on conflict (org_id, payment_id) do update set
          payer_wallet_id = excluded.payer_wallet_id, receiver_wallet_id = excluded.receiver_wallet_id,
          amount_won = excluded.amount_won, government_won = excluded.government_won,
          incentive_won = excluded.incentive_won, normal_won = excluded.normal_won, accrued_won = excluded.accrued_won,
          refunded_won = excluded.refunded_won, memo = excluded.memo, reference = excluded.reference, metadata = excluded.metadata,
          version = excluded.version, created_at = excluded.created_at, cancel_id = excluded.cancel_id,
          restored_incentive_won = excluded.restored_incentive_won, restored_normal_won = excluded.restored_normal_won,
          clawed_back_won = excluded.clawed_back_won, kept_won = excluded.kept_won, cancel_memo = excluded.cancel_memo,
          cancel_reference = excluded.cancel_reference, cancel_metadata = excluded.cancel_metadata,
          cancelled_at = excluded.cancelled_at
        where payments.version < excluded.version`,
    ),
  );
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

/** The payments among these ids. */
export async function findPayments(db: Queryable, orgId: string, paymentIds: string[]): Promise<Payment[]> {
  const rows = await db.query<PaymentRow>(
    sql`select * from payments where org_id = ${orgId} and payment_id = any(${paymentIds}::text[])`,
  );
  return rows.map(fromRow);
}

export async function findPaymentByCancel(
  db: Queryable,
  orgId: string,
  cancelId: string,
): Promise<Payment | undefined> {
  const row = await db.maybe<PaymentRow>(
    sql`select * from payments where org_id = ${orgId} and cancel_id = ${cancelId}`,
  );
  return row && fromRow(row);
}

const TABLE: ListTable = {
  name: sql`payments`,
  id: sql`payment_id`,
  idPrefix: "pay_",
  // A user cannot pay himself, so no row is on two walks.
  wallets: [sql`payer_wallet_id`, sql`receiver_wallet_id`],
};

const STATUS_FILTERS: Record<PaymentStatus, StatusFilter> = {
  PAID: { condition: sql`cancel_id is null and refunded_won = 0` },
  PARTIALLY_REFUNDED: {
    indexed: sql`refunded_won > 0`,
    condition: sql`refunded_won > 0 and refunded_won < amount_won`,
  },
  REFUNDED: { indexed: sql`refunded_won > 0`, condition: sql`refunded_won = amount_won` },
  CANCELLED: { indexed: sql`cancel_id is not null`, condition: sql`cancel_id is not null` },
};

export async function listPayments(
  db: Queryable,
  { status, ...wanted }: ListWanted<PaymentStatus>,
): Promise<RowsFound<Payment>> {
  const found = await listRows<PaymentRow>(db, TABLE, {
    ...wanted,
    status: status && STATUS_FILTERS[status],
  });
  return { ...found, rows: found.rows.map(fromRow) };
}

function fromRow(row: PaymentRow): Payment {
  return {
    orgId: row.org_id,
    paymentId: row.payment_id,
    payerWalletId: row.payer_wallet_id,
    receiverWalletId: row.receiver_wallet_id,
    amountWon: won(row.amount_won),
    governmentWon: won(row.government_won),
    incentiveWon: won(row.incentive_won),
    normalWon: won(row.normal_won),
    accruedWon: won(row.accrued_won),
    refundedWon: won(row.refunded_won),
    ...notesFromRow(row),
    cancel: toCancel(row),
    version: row.version,
    createdAt: row.created_at,
  };
}

/** A check of the table holds the columns of a cancellation together. */
function toCancel(row: PaymentRow): PaymentCancel | null {
  if (row.cancel_id === null) return null;
  return {
    cancelId: row.cancel_id,
    restoredIncentiveWon: won(row.restored_incentive_won!),
    restoredNormalWon: won(row.restored_normal_won!),
    clawedBackWon: won(row.clawed_back_won!),
    keptWon: won(row.kept_won!),
    ...notesFromRow({
      memo: row.cancel_memo,
      reference: row.cancel_reference,
      metadata: row.cancel_metadata,
    }),
    createdAt: row.cancelled_at!,
  };
}
