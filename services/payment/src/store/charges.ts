import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type Charge, type ChargeCancel, type chargeStatus } from "@wonrail/kit/records";
import { listRows, type ListTable, type ListWanted, type RowsFound, type StatusFilter } from "./listRows";
import { notesArrays, notesFromRow, type NotesRow } from "./notes";

/** A charge can be cancelled in any number of parts. */
const MAX_SHOWN_CANCELS = 100;

export type ChargeStatus = ReturnType<typeof chargeStatus>;

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

/** The charges among these ids. */
export async function findCharges(db: Queryable, orgId: string, chargeIds: string[]): Promise<Charge[]> {
  const rows = await db.query<ChargeRow>(
    sql`select * from charges where org_id = ${orgId} and charge_id = any(${chargeIds}::text[])`,
  );
  return rows.map(fromRow);
}

export async function findChargeCancel(
  db: Queryable,
  orgId: string,
  cancelId: string,
): Promise<ChargeCancel | undefined> {
  const row = await db.maybe<ChargeCancelRow>(
    sql`select * from charge_cancels where org_id = ${orgId} and cancel_id = ${cancelId}`,
  );
  return row && toChargeCancel(row);
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

const TABLE: ListTable = {
  name: sql`charges`,
  id: sql`charge_id`,
  idPrefix: "chg_",
  wallets: [sql`wallet_id`],
};

/** The same rule as `chargeStatus` of the kit. A partial index has the cancelled charges. */
const STATUS_FILTERS: Record<ChargeStatus, StatusFilter> = {
  CHARGED: { condition: sql`cancelled_won = 0` },
  PARTIALLY_CANCELLED: {
    indexed: sql`cancelled_won > 0`,
    condition: sql`cancelled_won < amount_won and cancelled_won > 0`,
  },
  CANCELLED: { indexed: sql`cancelled_won > 0`, condition: sql`cancelled_won = amount_won` },
};

export async function listCharges(
  db: Queryable,
  { status, ...wanted }: ListWanted<ChargeStatus>,
): Promise<RowsFound<Charge>> {
  const found = await listRows<ChargeRow>(db, TABLE, {
    ...wanted,
    status: status && STATUS_FILTERS[status],
  });
  return { ...found, rows: found.rows.map(fromRow) };
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
