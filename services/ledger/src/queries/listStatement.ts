import { smallest } from "@wonrail/kit/contract/bigints";
import type { Database } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { MAX_OFFSET_ROWS, cutPage, readPage, rowsToRead, type Page } from "@wonrail/kit/page";
import type { PageInfo, PageRequest } from "@wonrail/proto/common/v1/common";
import type { Account, TransactionType } from "../domain/types";
import { findAccounts } from "../store/accounts";
import {
  countDetachedLines,
  countOfTypes,
  findSequenceAt,
  listSequences,
  listSequencesOfTypes,
  type DetachedLines,
  type SequenceRange,
  type StatementLine,
} from "../store/statements";

export interface StatementQuery {
  orgId: string;
  accountId: string;
  /** Empty: all. */
  types: TransactionType[];
  fromMs: number | null;
  toMs: number | null;
  page: PageRequest | undefined;
}

/** A cursor is the sequence of the last line that was shown. */
const SEQUENCE = /^[1-9][0-9]{0,18}$/;

/** Lists an account's lines in either order. Every page costs the same, because the sequence has only known gaps. */
export async function listStatement(
  db: Database,
  query: StatementQuery,
): Promise<{ lines: StatementLine[]; info: PageInfo }> {
  const page = readPage(query.page, (key) => SEQUENCE.test(key));
  const account = await accountOf(db, query.orgId, query.accountId);
  const range = await rangeOf(db, account, query);
  const detached = await detachedLinesOf(db, account, query.types, range, page);
  const rows = await readLines(db, account, query.types, rangeAfter(range, page), page, detached);
  const total = await countLines(db, account, query.types, range, detached);
  const { items, info } = cutPage(rows, page, ({ posting }) => posting.sequence.toString(), total);
  return { lines: items, info };
}

async function accountOf(db: Database, orgId: string, accountId: string): Promise<Account> {
  const [account] = await findAccounts(db, orgId, [accountId]);
  const asked = account?.id === accountId ? account : undefined;
  if (!asked) throw new DomainError("WAL_002", { walletId: accountId });
  return asked;
}

async function rangeOf(
  db: Database,
  account: Account,
  { fromMs, toMs }: StatementQuery,
): Promise<SequenceRange> {
  const first = fromMs === null ? 1n : await findSequenceAt(db, account, fromMs);
  const last = toMs === null ? account.sequence : (await findSequenceAt(db, account, toMs)) - 1n;
  return { first, last };
}

/** A count of some types needs no correction for detached lines. */
function detachedLinesOf(
  db: Database,
  account: Account,
  types: TransactionType[],
  range: SequenceRange,
  page: Page,
): Promise<DetachedLines> {
  if (types.length > 0 || range.last < range.first) return Promise.resolve({ lines: 0n, before: 0n });
  return countDetachedLines(db, account, range, page);
}

/** The part of the range behind the cursor. */
function rangeAfter({ first, last }: SequenceRange, { after, oldestFirst }: Page): SequenceRange {
  if (after === null) return { first, last };
  const shown = BigInt(after);
  if (oldestFirst) return { first: shown < first ? first : smallest(shown, last) + 1n, last };
  return { first, last: smallest(shown - 1n, last) };
}

/** Without types, the page's sequences follow from its offset and from the detached lines before it. */
function readLines(
  db: Database,
  account: Account,
  types: TransactionType[],
  range: SequenceRange,
  page: Page,
  detached: DetachedLines,
): Promise<StatementLine[]> {
  const { offset, after, oldestFirst = false } = page;
  const rows = { offset, limit: rowsToRead(page), oldestFirst };
  if (types.length > 0) return listSequencesOfTypes(db, account, types, range, rows);
  const skipped = after === null ? BigInt(offset) + detached.before : 0n;
  const rest = oldestFirst
    ? { ...range, first: range.first + skipped }
    : { ...range, last: range.last - skipped };
  return listSequences(db, account, rest, rows);
}

function countLines(
  db: Database,
  account: Account,
  types: TransactionType[],
  { first, last }: SequenceRange,
  detached: DetachedLines,
): Promise<number> {
  if (types.length > 0) return countOfTypes(db, account, types, { first, last }, MAX_OFFSET_ROWS + 1);
  const lines = last < first ? 0n : last - first + 1n - detached.lines;
  return Promise.resolve(lines > MAX_OFFSET_ROWS ? MAX_OFFSET_ROWS + 1 : Number(lines));
}
