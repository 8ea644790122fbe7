import { tx, type Database, type Tx } from "@wonrail/kit/db";
import {
  ACCOUNT_CHECKS,
  JOURNAL_CHECKS,
  countAll,
  findAccountViolations,
  findViolations,
  prepareChecks,
  readEntries,
  type AccountViolation,
  type Check,
  type Counted,
  type EntriesRead,
  type EntryRange,
  type Violation,
} from "../store/checks";

export interface CheckResult {
  invariant: string;
  says: string;
  violations: Violation[];
}

const MAX_ROWS = 100;

/** The entries of a time. One statement sees a batch whole or not at all. */
export function verifyEntries(db: Database, range: EntryRange): Promise<EntriesRead> {
  return onSnapshot(db, (tx) => readEntries(tx, range, MAX_ROWS));
}

/** Accounts that were touched. */
export function verifyTouched(db: Database, numbers: bigint[]): Promise<AccountViolation[]> {
  return onSnapshot(db, (tx) => findAccountViolations(tx, numbers, MAX_ROWS));
}

/** One thing that is said of all accounts. */
export function verifyAccounts(db: Database, check: Check): Promise<Violation[]> {
  return onSnapshot(db, (tx) => findViolations(tx, check, MAX_ROWS));
}

/** Everything there is, with what was counted. */
export function verifyAll(db: Database): Promise<{ results: CheckResult[]; counted: Counted }> {
  const checks = [...ACCOUNT_CHECKS, ...JOURNAL_CHECKS];
  return onSnapshot(db, async (tx) => ({
    results: await runChecks(tx, checks),
    counted: await countAll(tx),
  }));
}

function onSnapshot<T>(db: Database, work: (tx: Tx) => Promise<T>): Promise<T> {
  return tx(
    db,
    async (tx) => {
      await prepareChecks(tx);
      return work(tx);
    },
    { isolation: "repeatable read", readOnly: true },
  );
}

async function runChecks(tx: Tx, checks: Check[]): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const check of checks) {
    const { invariant, says } = check;
    results.push({ invariant, says, violations: await findViolations(tx, check, MAX_ROWS) });
  }
  return results;
}
