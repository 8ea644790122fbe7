import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Page, rowsToRead } from "@wonrail/kit/page";
import { type JsonObject } from "@wonrail/kit/json";
import { type Notes } from "@wonrail/kit/records";
import { type ErrorDetail } from "@wonrail/proto/common/v1/common";
import { notesArrays, notesFromRow, type NotesRow } from "./notes";
import { type Payout } from "./payouts";

export type PayoutRowStatus = "PENDING" | "ACCEPTED" | "REFUSED" | "SKIPPED";

export interface NewPayoutRow extends Notes {
  index: number;
  toWalletAddress: string;
  amountWon: bigint;
  /** The partner's own key of the row. */
  idempotencyKey: string | null;
  /** A PENDING row with an error is refused with it: the sandbox rehearses the refusal. */
  error: ErrorDetail | null;
}

export interface RowOutcome {
  index: number;
  status: Exclude<PayoutRowStatus, "PENDING">;
  transferId: string | null;
  error: ErrorDetail | null;
}

export type PayoutRow = NewPayoutRow & Pick<RowOutcome, "transferId"> & { status: PayoutRowStatus };

export function insertPayoutRows(tx: Tx, { orgId, payoutId }: Payout, rows: NewPayoutRow[]): void {
  tx.push(sql`
    insert into payout_rows (org_id, payout_id, row_index, to_wallet_address, amount_won, memo, reference, metadata,
      idempotency_key, error_code, error_details)
    select ${orgId}, ${payoutId}, new.* from unnest(
      ${rows.map(({ index }) => index)}::integer[],
      ${rows.map(({ toWalletAddress }) => toWalletAddress)}::text[],
      ${rows.map(({ amountWon }) => amountWon)}::bigint[],
      ${notesArrays(rows)},
      ${rows.map(({ idempotencyKey }) => idempotencyKey)}::text[],
      ${rows.map(({ error }) => error?.code ?? null)}::text[],
      ${rows.map(({ error }) => error?.detailsJson ?? null)}::jsonb[]) as new`);
}

/** The first rows without an outcome, in their order. */
export async function listPendingRows(
  db: Queryable,
  { orgId, payoutId }: Payout,
  limit: number,
): Promise<PayoutRow[]> {
  const rows = await db.query<Row>(sql`
    select * from payout_rows
    where org_id = ${orgId} and payout_id = ${payoutId} and status = 'PENDING' order by row_index limit ${limit}`);
  return rows.map(fromRow);
}

export async function listPayoutRows(
  db: Queryable,
  wanted: { orgId: string; payoutId: string; status: PayoutRowStatus | undefined; page: Page },
): Promise<PayoutRow[]> {
  const { orgId, payoutId, status, page } = wanted;
  const rows = await db.query<Row>(sql`
    select * from payout_rows
    where org_id = ${orgId} and payout_id = ${payoutId}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${page.after === null ? sql`` : sql`and row_index > ${Number(page.after)}`}
    order by row_index limit ${rowsToRead(page)} offset ${page.offset}`);
  return rows.map(fromRow);
}

/** Writes the outcomes of rows that have none, and returns those that it wrote. */
export async function saveOutcomes(
  tx: Tx,
  { orgId, payoutId }: Payout,
  outcomes: RowOutcome[],
): Promise<{ status: RowOutcome["status"]; amountWon: bigint }[]> {
  return tx.query(sql`
    update payout_rows r set status = o.status, transfer_id = o.transfer_id, error_code = o.error_code,
      error_details = o.error_details
    from unnest(
      ${outcomes.map(({ index }) => index)}::integer[],
      ${outcomes.map(({ status }) => status)}::text[],
      ${outcomes.map(({ transferId }) => transferId)}::text[],
      ${outcomes.map(({ error }) => error?.code ?? null)}::text[],
      ${outcomes.map(({ error }) => error?.detailsJson ?? null)}::jsonb[])
      as o (row_index, status, transfer_id, error_code, error_details)
    where r.org_id = ${orgId} and r.payout_id = ${payoutId} and r.row_index = o.row_index and r.status = 'PENDING'
    returning r.status, r.amount_won as "amountWon"`);
}

interface Row extends NotesRow {
  row_index: number;
  to_wallet_address: string;
  amount_won: bigint;
  idempotency_key: string | null;
  status: PayoutRowStatus;
  transfer_id: string | null;
  error_code: string | null;
  error_details: JsonObject | null;
}

function fromRow(row: Row): PayoutRow {
  return {
    index: row.row_index,
    toWalletAddress: row.to_wallet_address,
    amountWon: row.amount_won,
    ...notesFromRow(row),
    idempotencyKey: row.idempotency_key,
    status: row.status,
    transferId: row.transfer_id,
    error: errorOf(row),
  };
}

function errorOf({ error_code: code, error_details: details }: Row): ErrorDetail | null {
  return code === null ? null : { code, detailsJson: details === null ? undefined : JSON.stringify(details) };
}
