import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type Charge, type ChargeCancel } from "../domain/charge";

/** Of one charge's cancellations; there is no end to the parts. */
const MAX_SHOWN = 100;

interface ChargeRow {
  org_id: string;
  charge_id: string;
  wallet_id: string;
  amount_won: bigint;
  cancelled_won: bigint;
  balance_won: bigint;
  memo: string | null;
  version: bigint;
  created_at: Date;
  updated_at: Date;
}

interface ChargeCancelRow {
  org_id: string;
  cancel_id: string;
  charge_id: string;
  amount_won: bigint;
  memo: string | null;
  created_at: Date;
}

export function insertCharges(tx: Tx, charges: Charge[]): void {
  tx.push(
    named(
      "charges_insert",
      sql`
        insert into charges (org_id, charge_id, wallet_id, amount_won, balance_won, memo, created_at)
        select * from unnest(
          ${charges.map((charge) => charge.orgId)}::text[],
          ${charges.map((charge) => charge.chargeId)}::text[],
          ${charges.map((charge) => charge.walletId)}::text[],
          ${charges.map((charge) => charge.amountWon)}::bigint[],
          ${charges.map((charge) => charge.balanceWon)}::bigint[],
          ${charges.map((charge) => charge.memo)}::text[],
          ${charges.map((charge) => charge.createdAt)}::timestamptz[])
        order by 1, 2`,
    ),
  );
}

/**
 * Writes down one cancellation; `cancelledWon` is what the ledger says is cancelled in all. Two that arrive in the other order leave the
 * greater sum, and the charge as it is then. Undefined when the charge itself is not written down yet.
 */
export async function cancelCharge(
  tx: Tx,
  cancel: ChargeCancel,
  cancelledWon: bigint,
): Promise<Charge | undefined> {
  const row = await tx.maybe<ChargeRow>(sql`
    update charges set cancelled_won = greatest(cancelled_won, ${cancelledWon}), version = version + 1, updated_at = now()
    where org_id = ${cancel.orgId} and charge_id = ${cancel.chargeId} returning *`);
  if (!row) return undefined;
  await tx.run(sql`
    insert into charge_cancels (org_id, cancel_id, charge_id, amount_won, memo, created_at)
    values (${cancel.orgId}, ${cancel.cancelId}, ${cancel.chargeId}, ${cancel.amountWon}, ${cancel.memo}, ${cancel.createdAt})`);
  return fromRow(row);
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

/** The newest of them, oldest first. */
export async function listChargeCancels(
  db: Queryable,
  orgId: string,
  chargeId: string,
): Promise<ChargeCancel[]> {
  const rows = await db.query<ChargeCancelRow>(sql`
    select * from charge_cancels where org_id = ${orgId} and charge_id = ${chargeId}
    order by cancel_id desc limit ${MAX_SHOWN}`);
  return rows.reverse().map(toChargeCancel);
}

export async function listCharges(
  db: Queryable,
  orgId: string,
  walletId: string | null,
  page: Page,
): Promise<{ rows: Charge[]; total: number }> {
  const mine =
    walletId === null ? sql`org_id = ${orgId}` : sql`org_id = ${orgId} and wallet_id = ${walletId}`;
  const after = page.after === null ? sql`` : sql`and charge_id < ${page.after}`;
  const rows = await db.query<ChargeRow>(sql`
    select * from charges where ${mine} ${after}
    order by charge_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  // In the index's order, too: the table may have much before the first that is theirs.
  const { total } = await db.one<{ total: bigint }>(sql`
    select count(*) as total from (
      select from charges where ${mine} order by charge_id desc limit ${MAX_OFFSET_ROWS + 1}) as counted`);
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
    memo: row.memo,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toChargeCancel(row: ChargeCancelRow): ChargeCancel {
  return {
    orgId: row.org_id,
    cancelId: row.cancel_id,
    chargeId: row.charge_id,
    amountWon: won(row.amount_won),
    memo: row.memo,
    createdAt: row.created_at,
  };
}
