import type { Queryable } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import type { Account } from "../domain/types";
import { findAccountById, findAccounts } from "../store/accounts";
import { listOpenHolds, type OpenHold } from "../store/holds";

/** An account of any organisation. */
export async function getAccount(db: Queryable, accountId: string): Promise<Account> {
  const account = await findAccountById(db, accountId);
  if (account?.id !== accountId) throw new DomainError("WAL_002", { walletId: accountId });
  return account;
}

export interface AccountKey {
  orgId: string;
  accountId: string;
}

/** An account of this organisation. */
export async function mustFindAccount(db: Queryable, { orgId, accountId }: AccountKey): Promise<Account> {
  const [account] = await findAccounts(db, orgId, [accountId]);
  if (account?.id !== accountId) throw new DomainError("WAL_002", { walletId: accountId });
  return account;
}

/** The account's open holds, oldest first. */
export async function listHolds(
  db: Queryable,
  { limit, ...key }: AccountKey & { limit: number },
): Promise<OpenHold[]> {
  const { number } = await mustFindAccount(db, key);
  return listOpenHolds(db, number, limit);
}
