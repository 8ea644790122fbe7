import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { type Transfer } from "@wonrail/kit/records";
import { listRows, type ListTable, type ListWanted, type RowsFound, type StatusFilter } from "./listRows";
import { notesArrays, notesFromRow, type NotesRow } from "./notes";

interface TransferRow extends NotesRow {
  org_id: string;
  transfer_id: string;
  status: Transfer["status"];
  from_wallet_id: string;
  to_wallet_address: string;
  to_wallet_id: string | null;
  amount_won: bigint;
  version: bigint;
  created_at: Date;
}

/** When the final settlement of `transfer` was seen: now, if its row is there already. */
const settledAt = sql`(
  select now() from settlements s
  where s.org_id = transfer.org_id and s.ledger_ref = transfer.transfer_id and s.status in ('CONFIRMED', 'FAILED'))`;

/** Keeps the newest version of each row. */
export function saveTransfers(tx: Tx, transfers: Transfer[]): void {
  tx.push(
    named(
      "transfers_save",
      sql`
        insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won,
          memo, reference, metadata, version, created_at, settled_at)
        select transfer.*, case when status = 'PENDING' then ${settledAt} end from unnest(
          ${transfers.map((transfer) => transfer.orgId)}::text[],
          ${transfers.map((transfer) => transfer.transferId)}::text[],
          ${transfers.map((transfer) => transfer.status)}::text[],
          ${transfers.map((transfer) => transfer.fromWalletId)}::text[],
          ${transfers.map((transfer) => transfer.toWalletAddress)}::text[],
          ${transfers.map((transfer) => transfer.toWalletId)}::text[],
          ${transfers.map((transfer) => transfer.amountWon)}::bigint[],
          ${notesArrays(transfers)},
          ${transfers.map((transfer) => transfer.version)}::bigint[],
          ${transfers.map((transfer) => transfer.createdAt)}::timestamptz[])
          as transfer (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won,
            memo, reference, metadata, version, created_at)
        order by 1, 2
        on conflict (org_id, transfer_id) do update set
          status = excluded.status, from_wallet_id = excluded.from_wallet_id,
          to_wallet_address = excluded.to_wallet_address, to_wallet_id = excluded.to_wallet_id,
          amount_won = excluded.amount_won, memo = excluded.memo, reference = excluded.reference,
          metadata = excluded.metadata, version = excluded.version, created_at = excluded.created_at,
          settled_at = excluded.settled_at
        where transfers.version < excluded.version`,
    ),
  );
}

export async function findTransfer(
  db: Queryable,
  orgId: string,
  transferId: string,
): Promise<Transfer | undefined> {
  const row = await db.maybe<TransferRow>(
    sql`select * from transfers where org_id = ${orgId} and transfer_id = ${transferId}`,
  );
  return row && fromRow(row);
}

/** The outside addresses to which these transfers go, by transfer id. */
export async function findOutsideAddresses(
  db: Queryable,
  orgId: string,
  transferIds: string[],
): Promise<Map<string, string>> {
  const rows = await db.query<{ transfer_id: string; to_wallet_address: string }>(sql`
    select transfer_id, to_wallet_address from transfers
    where org_id = ${orgId} and transfer_id = any(${transferIds}::text[]) and to_wallet_id is null`);
  return new Map(rows.map((row) => [row.transfer_id, row.to_wallet_address]));
}

const TABLE: ListTable = {
  name: sql`transfers`,
  id: sql`transfer_id`,
  idPrefix: "trf_",
  // A transfer cannot go to its own wallet, so no row is on two walks.
  wallets: [sql`from_wallet_id`, sql`to_wallet_id`],
};

/** Few transfers are not COMPLETED. A partial index has them. */
function statusFilter(status: Transfer["status"]): StatusFilter {
  const condition = sql`status = ${status}`;
  if (status === "COMPLETED") return { condition };
  return { indexed: sql`status <> 'COMPLETED'`, condition };
}

export async function listTransfers(
  db: Queryable,
  { status, ...wanted }: ListWanted<Transfer["status"]>,
): Promise<RowsFound<Transfer>> {
  const found = await listRows<TransferRow>(db, TABLE, {
    ...wanted,
    status: status && statusFilter(status),
  });
  return { ...found, rows: found.rows.map(fromRow) };
}

export interface SettledTransfer {
  transfer: Transfer;
  settled: "CONFIRMED" | "FAILED";
  /** The next batch starts after this place. */
  place: SettledPlace;
}

/** The time is Postgres' text: a Date has no microseconds. */
export interface SettledPlace {
  at: string;
  transferId: string;
}

export const FIRST_PLACE: SettledPlace = { at: "-infinity", transferId: "" };

/** Marks PENDING transfers whose settlement is final. */
export function markSettled(tx: Tx, settled: { orgId: string; ledgerRef: string }[]): void {
  tx.push(sql`
    update transfers set settled_at = now()
    where status = 'PENDING' and settled_at is null and (org_id, transfer_id) in (select * from unnest(
      ${settled.map(({ orgId }) => orgId)}::text[], ${settled.map(({ ledgerRef }) => ledgerRef)}::text[]))`);
}

/**
 * Marks settled transfers that were written concurrently with their settlement: neither transaction
 * saw the other.
 */
export async function markMissedSettled(db: Queryable): Promise<number> {
  return db.run(sql`
    update transfers transfer set settled_at = ${settledAt}
    where status = 'PENDING' and settled_at is null and ${settledAt} is not null`);
}

/** Age of the oldest PENDING transfer; 0 when there is none. */
export async function findOldestPendingSeconds(db: Queryable): Promise<number> {
  const { seconds } = await db.one<{ seconds: number }>(sql`
    select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds from transfers where status = 'PENDING'`);
  return seconds;
}

/** Lists PENDING transfers whose settlement is final, oldest first. */
export async function listSettledTransfers(
  db: Queryable,
  after: SettledPlace,
  limit: number,
): Promise<SettledTransfer[]> {
  const rows = await db.query<TransferRow & { settled: "CONFIRMED" | "FAILED"; at: string }>(sql`
    select t.*, s.status as settled, t.settled_at::text as at
    from transfers t join settlements s on s.org_id = t.org_id and s.ledger_ref = t.transfer_id
    where t.status = 'PENDING' and t.settled_at is not null and s.status in ('CONFIRMED', 'FAILED')
      and (t.settled_at, t.transfer_id) > (${after.at}::timestamptz, ${after.transferId})
    order by t.settled_at, t.transfer_id limit ${limit}`);
  return rows.map((row) => ({
    transfer: fromRow(row),
    settled: row.settled,
    place: { at: row.at, transferId: row.transfer_id },
  }));
}

function fromRow(row: TransferRow): Transfer {
  return {
    orgId: row.org_id,
    transferId: row.transfer_id,
    status: row.status,
    fromWalletId: row.from_wallet_id,
    toWalletAddress: row.to_wallet_address,
    toWalletId: row.to_wallet_id,
    amountWon: won(row.amount_won),
    ...notesFromRow(row),
    version: row.version,
    createdAt: row.created_at,
  };
}
