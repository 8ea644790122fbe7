import { type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";
import { type Id } from "@wonrail/kit/contract/ids";
import { MAX_OFFSET_ROWS, type Page, rowsToRead } from "@wonrail/kit/page";
import { type Metadata } from "../domain/metadata";
import {
  type ClosingWallet,
  type StoredStatus,
  type Wallet,
  type WalletStatus,
  type WalletType,
} from "../domain/wallet";

interface WalletRow {
  org_id: string;
  wallet_id: Id<"wal">;
  user_id: string;
  wallet_type: WalletType;
  address: string;
  key_index: number;
  status: StoredStatus;
  closing_request_id: string | null;
  times_reopened: number;
  metadata: Metadata;
  version: bigint;
  created_at: Date;
  updated_at: Date;
}

const COLUMNS = sql`org_id, wallet_id, user_id, wallet_type, address, key_index, status, closing_request_id,
  times_reopened, metadata, version, created_at, updated_at`;

export type NewWallet = Pick<
  Wallet,
  "orgId" | "walletId" | "userId" | "walletType" | "address" | "keyIndex" | "metadata"
>;

/** The Idempotency-Key of the creating request, and the SHA-256 of its body. */
export interface CreationKey {
  key: string;
  bodyHash: Buffer;
}

/**
 * Returns undefined when the user already has a wallet of this type, or the key created another.
 */
export async function insertWallet(
  db: Queryable,
  wallet: NewWallet,
  creation?: CreationKey,
): Promise<Wallet | undefined> {
  const [row] = await db.write<WalletRow>(sql`
    insert into wallets (org_id, wallet_id, user_id, wallet_type, address, key_index, status, metadata,
                         creation_key, creation_hash)
    values (${wallet.orgId}, ${wallet.walletId}, ${wallet.userId}, ${wallet.walletType}, ${wallet.address},
            ${wallet.keyIndex}, 'OPENING', ${sql.json(wallet.metadata)},
            ${creation?.key ?? null}, ${creation?.bodyHash ?? null})
    on conflict do nothing
    returning ${COLUMNS}`);
  return row && toWallet(row);
}

export async function findWalletByCreationKey(
  db: Queryable,
  orgId: string,
  key: string,
): Promise<{ wallet: Wallet; bodyHash: Buffer } | undefined> {
  const row = await db.maybe<WalletRow & { creation_hash: Buffer }>(sql`
    select ${COLUMNS}, creation_hash from wallets where org_id = ${orgId} and creation_key = ${key}`);
  return row && { wallet: toWallet(row), bodyHash: row.creation_hash };
}

export async function findWallet(
  db: Queryable,
  orgId: string,
  walletId: string,
): Promise<Wallet | undefined> {
  const row = await db.maybe<WalletRow>(
    sql`select ${COLUMNS} from wallets where org_id = ${orgId} and wallet_id = ${walletId}`,
  );
  return row && toWallet(row);
}

export async function findUserWallet(
  db: Queryable,
  orgId: string,
  userId: string,
  walletType: WalletType,
): Promise<Wallet | undefined> {
  const row = await db.maybe<WalletRow>(sql`
    select ${COLUMNS} from wallets where org_id = ${orgId} and user_id = ${userId} and wallet_type = ${walletType}`);
  return row && toWallet(row);
}

export async function listWalletsById(db: Queryable, orgId: string, walletIds: string[]): Promise<Wallet[]> {
  const rows = await db.query<WalletRow>(sql`
    select ${COLUMNS} from wallets
    where org_id = ${orgId} and wallet_id = any(${walletIds}::text[]) and status <> 'OPENING'`);
  return rows.map(toWallet);
}

/** The wallets of one organisation, or of all when the caller watches every address. */
export async function listWalletsByAddress(
  db: Queryable,
  orgId: string | null,
  addresses: string[],
): Promise<Wallet[]> {
  const lower = addresses.map((address) => address.toLowerCase());
  const scope = orgId === null ? sql`` : sql`and org_id = ${orgId}`;
  const rows = await db.query<WalletRow>(sql`
    select ${COLUMNS} from wallets where lower(address) = any(${lower}::text[]) and status <> 'OPENING' ${scope}`);
  return rows.map(toWallet);
}

const WALLET_TYPES: WalletType[] = ["NORMAL", "INCENTIVE", "GOVERNMENT"];

export interface WalletFilter {
  userId?: string;
  walletType?: WalletType;
  status?: WalletStatus;
}

export async function listWallets(
  db: Queryable,
  orgId: string,
  filter: WalletFilter,
  page: Page,
): Promise<{ rows: Wallet[]; total: number }> {
  const after = page.after === null ? sql`` : sql`and wallet_id < ${page.after}`;
  const newest = (columns: Sql, behind: Sql, reach: number) => {
    const walks = matching(orgId, filter).map(
      (matches) =>
        sql`(select ${columns} from wallets where ${matches} ${behind} order by wallet_id desc limit ${reach})`,
    );
    return sql.join(walks, sql` union all `);
  };
  const rows = await db.query<WalletRow>(sql`
    select * from (${newest(COLUMNS, after, page.offset + rowsToRead(page))}) as found
    order by wallet_id desc limit ${rowsToRead(page)} offset ${page.offset}`);
  // In the index's order too: many rows may lie before the first match.
  const { total } = await db.one<{ total: bigint }>(sql`
    select count(*) as total from (
      select from (${newest(sql`wallet_id`, sql``, MAX_OFFSET_ROWS + 1)}) as found limit ${MAX_OFFSET_ROWS + 1}) as counted`);
  return { rows: rows.map(toWallet), total: Number(total) };
}

/**
 * Locks these wallets in id order until the transaction ends. Rows that refer to a wallet do not
 * wait.
 */
export async function lockWallets(tx: Tx, wallets: { orgId: string; walletId: string }[]): Promise<void> {
  await tx.run(sql`
    select from wallets
    where (org_id, wallet_id) in (
      select * from unnest(
        ${wallets.map((wallet) => wallet.orgId)}::text[],
        ${wallets.map((wallet) => wallet.walletId)}::text[]))
    order by org_id, wallet_id for no key update`);
}

/** Longer than any request may take. */
export const MAX_CREATION_MS = 5_000;

/**
 * Moves a wallet from one of these statuses to another; undefined when it has none of them. The
 * version counts the wallet's events.
 */
export async function moveWallet(
  tx: Tx,
  wallet: Pick<Wallet, "orgId" | "walletId">,
  move: { from: readonly StoredStatus[]; to: StoredStatus },
): Promise<Wallet | undefined> {
  const row = await tx.maybe<WalletRow>(sql`
    update wallets set status = ${move.to}, version = version + 1, updated_at = now()
    where org_id = ${wallet.orgId} and wallet_id = ${wallet.walletId} and status = any(${move.from}::text[])
    returning ${COLUMNS}`);
  return row && toWallet(row);
}

/**
 * Starts to close a wallet under this request id, or joins a closing under another id. Undefined
 * when the wallet has none of these statuses. The ledger may still refuse.
 */
export async function beginClosing(
  tx: Tx,
  { orgId, walletId }: { orgId: string; walletId: string },
  from: readonly ("ACTIVE" | "DEACTIVATING")[],
  requestId: string,
): Promise<ClosingWallet | undefined> {
  const row = await tx.maybe<WalletRow>(sql`
    update wallets set status = 'DEACTIVATING',
      closing_request_id = case status when 'DEACTIVATING' then coalesce(closing_request_id, ${requestId}) else ${requestId} end,
      closing_since = case status when 'DEACTIVATING' then closing_since else now() end
    where org_id = ${orgId} and wallet_id = ${walletId} and status = any(${from}::text[])
    returning ${COLUMNS}`);
  return row && { ...toWallet(row), closingRequestId: row.closing_request_id! };
}

/** Runs after a refusal. A wallet that is closing under another request id is left alone. */
export async function stopClosing(
  tx: Tx,
  { orgId, walletId, closingRequestId }: ClosingWallet,
): Promise<void> {
  await tx.run(sql`
    update wallets set status = 'ACTIVE', closing_request_id = null, closing_since = null
    where org_id = ${orgId} and wallet_id = ${walletId} and status = 'DEACTIVATING' and closing_request_id = ${closingRequestId}`);
}

/**
 * Deactivates a wallet after the ledger closed its account, unless it was reopened after the caller
 * began.
 */
export async function endClosing(
  tx: Tx,
  { orgId, walletId, timesReopened }: ClosingWallet,
): Promise<Wallet | undefined> {
  const row = await tx.maybe<WalletRow>(sql`
    update wallets set status = 'DEACTIVATED', version = version + 1, updated_at = now()
    where org_id = ${orgId} and wallet_id = ${walletId} and status in ('DEACTIVATING', 'ACTIVE') and times_reopened = ${timesReopened}
    returning ${COLUMNS}`);
  return row && toWallet(row);
}

export async function reopenWallet(tx: Tx, orgId: string, walletId: string): Promise<Wallet | undefined> {
  const row = await tx.maybe<WalletRow>(sql`
    update wallets set status = 'ACTIVE', closing_request_id = null, closing_since = null, times_reopened = times_reopened + 1,
      version = version + 1, updated_at = now()
    where org_id = ${orgId} and wallet_id = ${walletId} and status = 'DEACTIVATED'
    returning ${COLUMNS}`);
  return row && toWallet(row);
}

export async function replaceMetadata(
  tx: Tx,
  orgId: string,
  walletId: string,
  metadata: Metadata,
): Promise<Wallet | undefined> {
  const row = await tx.maybe<WalletRow>(sql`
    update wallets set metadata = ${sql.json(metadata)}, version = version + 1, updated_at = now()
    where org_id = ${orgId} and wallet_id = ${walletId} and status in ('ACTIVE', 'DEACTIVATING')
    returning ${COLUMNS}`);
  return row && toWallet(row);
}

/** In id order, so that the job reaches later wallets even when earlier ones stay unfinished. */
export async function listUnfinishedWallets(
  db: Queryable,
  olderThanMs: number,
  after: { orgId: string; walletId: string },
  limit: number,
): Promise<Wallet[]> {
  const rows = await db.query<WalletRow>(sql`
    select ${COLUMNS} from wallets
    where status in ('OPENING', 'DEACTIVATING')
      and greatest(updated_at, closing_since) < now() - make_interval(secs => ${olderThanMs / 1000})
      and (org_id, wallet_id) > (${after.orgId}, ${after.walletId})
    order by org_id, wallet_id limit ${limit}`);
  return rows.map(toWallet);
}

/** Each status has its own index walk. Deactivated wallets have an index by type. */
function matching(orgId: string, filter: WalletFilter): Sql[] {
  const { userId, walletType, status } = filter;
  if (status === "DEACTIVATED" && walletType === undefined)
    return WALLET_TYPES.flatMap((type) => matching(orgId, { ...filter, walletType: type }));
  const conditions = [sql`org_id = ${orgId}`, sql`status <> 'OPENING'`];
  if (userId !== undefined) conditions.push(sql`user_id = ${userId}`);
  if (walletType !== undefined) conditions.push(sql`wallet_type = ${walletType}`);
  if (status === "DEACTIVATED") conditions.push(sql`status = 'DEACTIVATED'`);
  if (status === "ACTIVE") conditions.push(sql`status <> 'DEACTIVATED'`);
  return [sql.join(conditions, sql` and `)];
}

function toWallet(row: WalletRow): Wallet {
  return {
    orgId: row.org_id,
    walletId: row.wallet_id,
    userId: row.user_id,
    walletType: row.wallet_type,
    address: row.address,
    keyIndex: row.key_index,
    status: row.status,
    closingRequestId: row.closing_request_id,
    timesReopened: row.times_reopened,
    metadata: row.metadata,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
