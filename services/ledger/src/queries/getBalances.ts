import type { Database } from "@wonrail/kit/db";
import type { Account } from "../domain/types";
import { findAccounts } from "../store/accounts";

/** Returns accounts in the order of the ids. Absent and foreign ids are left out. */
export async function getBalances(db: Database, orgId: string, accountIds: string[]): Promise<Account[]> {
  const found = new Map((await findAccounts(db, orgId, accountIds)).map((account) => [account.id, account]));
  return accountIds.flatMap((id) => found.get(id) ?? []);
}
