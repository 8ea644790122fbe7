import { type Queryable, sql } from "@wonrail/kit/db";

export interface WalletAddress {
  walletId: string;
  orgId: string;
  address: string;
}

export async function saveWalletAddresses(db: Queryable, wallets: WalletAddress[]): Promise<void> {
  if (wallets.length === 0) return;
  await db.run(sql`
    insert into wallet_addresses (wallet_id, org_id, address)
    select * from unnest(${wallets.map((wallet) => wallet.walletId)}::text[], ${wallets.map((wallet) => wallet.orgId)}::text[],
      ${wallets.map((wallet) => wallet.address)}::text[])
    on conflict do nothing`);
}

export async function findAddresses(db: Queryable, walletIds: string[]): Promise<Map<string, string>> {
  const rows = await db.query<{ wallet_id: string; address: string }>(
    sql`select wallet_id, address from wallet_addresses where wallet_id = any(${walletIds}::text[])`,
  );
  return new Map(rows.map((row) => [row.wallet_id, row.address]));
}

/** The wallets at these addresses, by address in lower case. */
export async function findWalletsAt(db: Queryable, addresses: string[]): Promise<Map<string, WalletAddress>> {
  const lower = addresses.map((address) => address.toLowerCase());
  const rows = await db.query<{ wallet_id: string; org_id: string; address: string }>(
    sql`select wallet_id, org_id, address from wallet_addresses where lower(address) = any(${lower}::text[])`,
  );
  return new Map(
    rows.map((row) => [
      row.address.toLowerCase(),
      { walletId: row.wallet_id, orgId: row.org_id, address: row.address },
    ]),
  );
}
