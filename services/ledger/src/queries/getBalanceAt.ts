import type { Database } from "@wonrail/kit/db";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Won } from "@wonrail/kit/contract/money";
import { findAccounts } from "../store/accounts";
import { readJournalWindow } from "../store/partitions";
import { findBalanceBefore, findSequenceAt, hasDetachedLines } from "../store/statements";

/** The balance of an account after all lines that were posted before a time. */
export async function getBalanceAt(
  db: Database,
  { orgId, accountId, atMs }: { orgId: string; accountId: string; atMs: number },
): Promise<Won> {
  const [account] = await findAccounts(db, orgId, [accountId]);
  if (account?.id !== accountId) throw new DomainError("WAL_002", { walletId: accountId });
  const next = await findSequenceAt(db, account, atMs);
  const before = await findBalanceBefore(db, account, next);
  // The lines of a detached month are gone, and with them the balances inside the month.
  if (atMs < (await readJournalWindow(db)).fromMs && (await hasDetachedLines(db, account)))
    throw invalidRequest([{ path: "at", message: "is before the oldest month that is kept" }]);
  return before ?? account.balanceWon;
}
