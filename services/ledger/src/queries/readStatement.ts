import type { Database } from "@wonrail/kit/db";
import { DomainError, invalidRequest } from "@wonrail/kit/contract/errors";
import { type Won } from "@wonrail/kit/contract/money";
import { findAccounts } from "../store/accounts";
import { findHead } from "../store/journalHeads";
import { findOrgSequenceAt } from "../store/lines";
import { readJournalWindow } from "../store/partitions";
import {
  findBalanceBefore,
  findSequenceFrom,
  hasDetachedMonths,
  listSequences,
  type StatementLine,
} from "../store/statements";

export interface PeriodQuery {
  orgId: string;
  accountId: string;
  fromMs: number;
  toMs: number;
  /** The range of the report's first page. Null: this is the first page. */
  entries: EntryRange | null;
  /** Returns the lines behind this sequence of the account. Null: from the first line. */
  after: bigint | null;
  limit: number;
}

/** The organisation's entries from `first` on and before `end`, in commit order. */
export interface EntryRange {
  first: bigint;
  end: bigint;
}

export interface PeriodPage {
  lines: StatementLine[];
  openingWon: Won;
  closingWon: Won;
  entries: EntryRange;
  hasMore: boolean;
}

/**
 * Reads the lines of an account in a period, oldest first, with the balances at both ends. All pages
 * and accounts of a report use one range of entries: an entry that commits later is in none of them.
 */
export async function readStatement(db: Database, query: PeriodQuery): Promise<PeriodPage> {
  const { orgId, accountId, after, limit } = query;
  const entries = query.entries ?? (await findEntries(db, query));
  // Read behind the range, so that the account contains all entries of the range.
  const [account] = await findAccounts(db, orgId, [accountId]);
  if (account?.id !== accountId) throw new DomainError("WAL_002", { walletId: accountId });
  const [first, end] = await Promise.all([
    findSequenceFrom(db, account, entries.first),
    findSequenceFrom(db, account, entries.end),
  ]);
  const rest = { first: after === null ? first : after + 1n, last: end - 1n };
  const [opening, closing, found] = await Promise.all([
    findBalanceBefore(db, account, first),
    findBalanceBefore(db, account, end),
    listSequences(db, account, rest, { offset: 0, limit: limit + 1, oldestFirst: true }),
  ]);
  return {
    lines: found.slice(0, limit),
    openingWon: opening ?? account.balanceWon,
    closingWon: closing ?? account.balanceWon,
    entries,
    hasMore: found.length > limit,
  };
}

/** The committed entries of a period. Refuses a period whose months have left the journal. */
async function findEntries(db: Database, { orgId, fromMs, toMs }: PeriodQuery): Promise<EntryRange> {
  if (fromMs < (await readJournalWindow(db)).fromMs && (await hasDetachedMonths(db)))
    throw invalidRequest([{ path: "from", message: "is before the oldest month that is kept" }]);
  const head = await findHead(db, orgId);
  const [first, end] = await Promise.all([
    findOrgSequenceAt(db, orgId, head, fromMs),
    findOrgSequenceAt(db, orgId, head, toMs),
  ]);
  return { first, end };
}
