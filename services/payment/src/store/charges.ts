import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type Charge, type ChargeCancel } from "@wonrail/kit/records";
import { notesArrays, notesFromRow, type NotesRow } from "./notes";

/** A charge can be cancelled in any number of parts. */
const MAX_SHOWN_CANCELS = 100;

interface ChargeRow extends NotesRow {
  org_id: string;
  charge_id: string;
  wallet_id: string;
  amount_won: bigint;
  cancelled_won: bigint;
  balance_won: bigint;
  version: bigint;
  created_at: Date;
}

interface ChargeCancelRow extends NotesRow {
  org_id: string;
  cancel_id: string;
  charge_id: string;
  amount_won: bigint;
  version: bigint;
  created_at: Date;
}

/** Keeps the newest version of each row. */
export function saveCharges(tx: Tx, charges: Charge[]): void {
  tx.push(
    named(
      "charges_save",
      sql`
        insert into charges (org_id, charge_id, wallet_id, amount_won, cancelled_won, balance_won,
          memo, reference, metadata, version, created_at)
        select * from unnest(
          ${charges.map((charge) => charge.orgId)}::text[],
          ${charges.map((charge) => charge.chargeId)}::text[],
          ${charges.map((charge) => charge.walletId)}::text[],
          ${charges.map((charge) => charge.amountWon)}::bigint[],
          ${charges.map((charge) => charge.cancelledWon)}::bigint[],
          ${charges.map((charge) => charge.balanceWon)}::bigint[],
          ${notesArrays(charges)},
          ${charges.map((charge) => charge.version)}::bigint[],
          ${charges.map((charge) => charge.createdAt)}::timestamptz[])
        order by 1, 2
        on conflict (org_id, charge_id) do update set
          wallet_id = excluded.wallet_id, amount_won = excluded.amount_won, cancelled_won = excluded.cancelled_won,
          balance_won = excluded.balance_won, memo = excluded.memo, reference = excluded.reference,
          metadata = excluded.metadata, version = excluded.version, created_at = excluded.created_at
        where charges.version < excluded.version`,
    ),
  );
}

export function saveChargeCancels(tx: Tx, cancels: ChargeCancel[]): void {
  tx.push(
    named(
      "charge_cancels_save",
      sql`
        insert into charge_cancels (org_id, cancel_id, charge_id, amount_won, memo, reference, metadata, version, created_at)
        select * from unnest(
          ${cancels.map((cancel) => cancel.orgId)}::text[],
          ${cancels.map((cancel) => cancel.cancelId)}::text[],
          ${cancels.map((cancel) => cancel.chargeId)}::text[],
          ${cancels.map((cancel) => cancel.amountWon)}::bigint[],
          ${notesArrays(cancels)},
          ${cancels.map((cancel) => cancel.version)}::bigint[],
          ${cancels.map((cancel) => cancel.createdAt)}::timestamptz[])
        order by 1, 2
        on conflict (org_id, cancel_id) do update set
          charge_id = excluded.charge_id, amount_won = excluded.amount_won, memo = excluded.memo,
          reference = excluded.reference, metadata = excluded.metadata, version = excluded.version,
          created_at = excluded.created_at
        where charge_cancels.version < excluded.version`,
    ),
  );
}

export async function findCharge(
  db: Queryable,
  orgId: string,
  chargeId: string,
): Promise<Charge | undefined> {
  const row = await db.maybe<ChargeRow>(
    sql`select * from charges where org_id = ${orgId} and charge_id = ${chargeId}`,
  );
  return row && fromRow(row);
}

/** The newest cancellations of a charge, oldest first. */
export async function listChargeCancels(
  db: Queryable,
  orgId: string,
  chargeId: string,
): Promise<ChargeCancel[]> {
  const rows = await db.query<ChargeCancelRow>(sql`
    select * from charge_cancels where org_id = ${orgId} and charge_id = ${chargeId}
    order by cancel_id desc limit ${MAX_SHOWN_CANCELS}`);
  return rows.reverse().map(toChargeCancel);
}

/** Lists the charges of a wallet, or all of the organisation's, newest first. */
export async function listCharges(
  db: Queryable,
  orgId: string,
  walletId: string | null,
  page: Page,
): Promise<{ rows: Charge[]; total: number }> {
  const wanted =
    walletId === null ? sql`org_id = ${orgId}` : sql`org_id = ${orgId} and wallet_id = ${walletId}`;
  const after = page.after === null ? sql`` : sql`and charge_id < ${page.after}`;
  const rows = await db.query<ChargeRow>(sql`
    select * from charges where ${wanted} ${after}
    order by charge_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  // The count walks the index in its order too. Otherwise Postgres may read the table from its start.
  const { total } = await db.one<{ total: bigint }>(sql`
    select count(*) as total from (
      select from charges where ${wanted} order by charge_id desc limit ${MAX_OFFSET_ROWS + 1}) as counted`);
  return { rows: rows.map(fromRow), total: Number(total) };
}

function fromRow(row: ChargeRow): Charge {
  return {
    orgId: row.org_id,
    chargeId: row.charge_id,
    walletId: row.wallet_id,
    amountWon: won(row.amount_won),
    cancelledWon: won(row.cancelled_won),
    balanceWon: won(row.balance_won),
    ...notesFromRow(row),
    version: row.version,
    createdAt: row.created_at,
  };
}

function toChargeCancel(row: ChargeCancelRow): ChargeCancel {
  return {
    orgId: row.org_id,
    cancelId: row.cancel_id,
    chargeId: row.charge_id,
    amountWon: won(row.amount_won),
    ...notesFromRow(row),
    version: row.version,
    createdAt: row.created_at,
  };
}
