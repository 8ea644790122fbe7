import { sql, type Queryable } from "@wonrail/kit/db";
import { idToUuid, uuidToId } from "@wonrail/kit/contract/ids";
import { type Freeze } from "../domain/accountTypes";
import { freezes } from "./codes";

interface FrozenRow {
  org_id: string;
  id: string;
  frozen_by_chain: number;
  frozen_by_operator: number;
}

export interface FrozenFilter {
  orgId: string | null;
  /** Only this wallet, also when it is not frozen. */
  walletId: string | null;
  afterWalletId: string | null;
  limit: number;
}

/** Frozen wallets in the order of their ids. */
export async function listFrozenWallets(
  db: Queryable,
  { orgId, walletId, afterWalletId, limit }: FrozenFilter,
): Promise<{ orgId: string; walletId: string; byChain: Freeze; byOperator: Freeze }[]> {
  const which =
    walletId === null
      ? sql`(frozen_by_chain > 0 or frozen_by_operator > 0)`
      : sql`id = ${idToUuid(walletId)} and type <= 3`;
  const rows = await db.query<FrozenRow>(sql`
    select org_id, id, frozen_by_chain, frozen_by_operator from accounts
    where ${which}
      and (${orgId === null ? null : idToUuid(orgId)}::uuid is null or org_id = ${orgId === null ? null : idToUuid(orgId)})
      and (${afterWalletId === null ? null : idToUuid(afterWalletId)}::uuid is null
        or id > ${afterWalletId === null ? null : idToUuid(afterWalletId)})
    order by id limit ${limit}`);
  return rows.map((row) => ({
    orgId: uuidToId("org", row.org_id),
    walletId: uuidToId("wal", row.id),
    byChain: freezes.fromCode(row.frozen_by_chain),
    byOperator: freezes.fromCode(row.frozen_by_operator),
  }));
}

export interface FrozenCounts {
  outgoing: number;
  all: number;
}

/** Wallets that operators froze. */
export function countFrozenByOperator(db: Queryable): Promise<FrozenCounts> {
  return db.one<FrozenCounts>(sql`
    select (count(*) filter (where frozen_by_operator = ${freezes.toCode("OUTGOING")}))::integer as outgoing,
      (count(*) filter (where frozen_by_operator = ${freezes.toCode("ALL")}))::integer as all
    from accounts where frozen_by_operator > 0`);
}
