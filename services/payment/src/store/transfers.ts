import { named, type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { won } from "@wonrail/kit/contract/money";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type Transfer } from "../domain/transfer";

interface TransferRow {
  org_id: string;
  transfer_id: string;
  status: Transfer["status"];
  from_wallet_id: string;
  to_wallet_address: string;
  to_wallet_id: string | null;
  amount_won: bigint;
  memo: string | null;
  failure_reason: string | null;
  version: bigint;
  created_at: Date;
  updated_at: Date;
}

/** Of one that settled before it was written down: when that is noticed. */
const settledAt = sql`(
  select now() from settlements s
  where s.org_id = transfer.org_id and s.ledger_ref = transfer.transfer_id and s.status in ('CONFIRMED', 'FAILED'))`;

export function insertTransfers(tx: Tx, transfers: Transfer[]): void {
  tx.push(
    named(
      "transfers_insert",
      sql`
        insert into transfers (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won, memo, created_at, settled_at)
        select transfer.*, case when status = 'PENDING' then ${settledAt} end from unnest(
          ${transfers.map((transfer) => transfer.orgId)}::text[],
          ${transfers.map((transfer) => transfer.transferId)}::text[],
          ${transfers.map((transfer) => transfer.status)}::text[],
          ${transfers.map((transfer) => transfer.fromWalletId)}::text[],
          ${transfers.map((transfer) => transfer.toWalletAddress)}::text[],
          ${transfers.map((transfer) => transfer.toWalletId)}::text[],
          ${transfers.map((transfer) => transfer.amountWon)}::bigint[],
          ${transfers.map((transfer) => transfer.memo)}::text[],
          ${transfers.map((transfer) => transfer.createdAt)}::timestamptz[])
          as transfer (org_id, transfer_id, status, from_wallet_id, to_wallet_address, to_wallet_id, amount_won, memo, created_at)
        order by 1, 2`,
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

/** The transfers of these ids that go to an outside address, for the listing's counterparty. */
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

/** Sent or received by a wallet, or all of the organisation's. Newest first. */
export async function listTransfers(
  db: Queryable,
  orgId: string,
  walletId: string | null,
  page: Page,
): Promise<{ rows: Transfer[]; total: number }> {
  const after = page.after === null ? sql`` : sql`and transfer_id < ${page.after}`;
  // Each side walks its own index; together they hold the page. One to the wallet that it comes from is found twice.
  const sides =
    walletId === null
      ? [sql``]
      : [sql`and from_wallet_id = ${walletId}`, sql`and to_wallet_id = ${walletId}`];
  const newest = (columns: Sql, behind: Sql, reach: number) => {
    const walks = sides.map(
      (side) =>
        sql`(select ${columns} from transfers where org_id = ${orgId} ${side} ${behind} order by transfer_id desc limit ${reach})`,
    );
    return sql.join(walks, sql` union `);
  };
  const rows = await db.query<TransferRow>(sql`
    select * from (${newest(sql`*`, after, page.offset + rowsToRead(page))}) as found
    order by transfer_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  const { total } = await db.one<{ total: bigint }>(sql`
    select count(*) as total from (
      select from (${newest(sql`transfer_id`, sql``, MAX_OFFSET_ROWS + 1)}) as found limit ${MAX_OFFSET_ROWS + 1}) as counted`);
  return { rows: rows.map(fromRow), total: Number(total) };
}

export interface SettledTransfer {
  transfer: Transfer;
  settled: "CONFIRMED" | "FAILED";
  reason: string | null;
  /** Where it stands among the others. */
  place: SettledPlace;
}

/** The time is Postgres' text: a Date has no microseconds. */
export interface SettledPlace {
  at: string;
  transferId: string;
}

export const FIRST_PLACE: SettledPlace = { at: "-infinity", transferId: "" };

/** The chain has said its last word about these; those of them that are transfers to outside addresses are to be ended. */
export function noteSettled(tx: Tx, settled: { orgId: string; ledgerRef: string }[]): void {
  tx.push(sql`
    update transfers set settled_at = now()
    where status = 'PENDING' and settled_at is null and (org_id, transfer_id) in (select * from unnest(
      ${settled.map(({ orgId }) => orgId)}::text[], ${settled.map(({ ledgerRef }) => ledgerRef)}::text[]))`);
}

/** The same for what was written down while its last word was being taken in, or taken in by an older release. Looks through all that is PENDING. */
export async function noteMissedSettled(db: Queryable): Promise<number> {
  return db.run(sql`
    update transfers transfer set settled_at = ${settledAt}
    where status = 'PENDING' and settled_at is null and ${settledAt} is not null`);
}

/** Of what is PENDING: since it was written down. 0 when nothing is. */
export async function findOldestPendingSeconds(db: Queryable): Promise<number> {
  const { seconds } = await db.one<{ seconds: number }>(sql`
    select coalesce(extract(epoch from now() - min(updated_at)), 0)::float8 as seconds from transfers where status = 'PENDING'`);
  return seconds;
}

/** Transfers to outside addresses about which the chain has said its last word, those that have waited longest first. */
export async function listSettledTransfers(
  db: Queryable,
  after: SettledPlace,
  limit: number,
): Promise<SettledTransfer[]> {
  const rows = await db.query<
    TransferRow & { settled: "CONFIRMED" | "FAILED"; reason: string | null; at: string }
  >(sql`
    select t.*, s.status as settled, s.failure_reason as reason, t.settled_at::text as at
    from transfers t join settlements s on s.org_id = t.org_id and s.ledger_ref = t.transfer_id
    where t.status = 'PENDING' and t.settled_at is not null and s.status in ('CONFIRMED', 'FAILED')
      and (t.settled_at, t.transfer_id) > (${after.at}::timestamptz, ${after.transferId})
    order by t.settled_at, t.transfer_id limit ${limit}`);
  return rows.map((row) => ({
    transfer: fromRow(row),
    settled: row.settled,
    reason: row.reason,
    place: { at: row.at, transferId: row.transfer_id },
  }));
}

/** Undefined when somebody else has finished it. */
export async function finishTransfer(
  tx: Tx,
  { orgId, transferId }: Pick<Transfer, "orgId" | "transferId">,
  status: "COMPLETED" | "FAILED",
  failureReason: string | null,
): Promise<Transfer | undefined> {
  const row = await tx.maybe<TransferRow>(sql`
    update transfers set status = ${status}, failure_reason = ${failureReason}, version = version + 1, updated_at = now()
    where org_id = ${orgId} and transfer_id = ${transferId} and status = 'PENDING' returning *`);
  return row && fromRow(row);
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
    memo: row.memo,
    failureReason: row.failure_reason,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
