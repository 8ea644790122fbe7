import { tx, type Database, type Tx } from "@wonrail/kit/db";
import {
  ACCOUNT_CHECKS,
  JOURNAL_CHECKS,
  countAll,
  findEntryViolations,
  findViolations,
  prepareChecks,
  type Check,
  type Counted,
  type EntryRange,
  type EntryViolation,
  type Violation,
} from "../store/checks";

export interface CheckResult {
  invariant: string;
  says: string;
  violations: Violation[];
}

const MAX_ROWS = 100;

/** The accounts alone: cheap enough for every few seconds. */
export function verifyAccounts(db: Database): Promise<CheckResult[]> {
  return onSnapshot(db, (tx) => runChecks(tx, ACCOUNT_CHECKS));
}

/** The entries of a time. One statement sees a batch whole or not at all. */
export function verifyEntries(db: Database, range: EntryRange): Promise<EntryViolation[]> {
  return onSnapshot(db, (tx) => findEntryViolations(tx, range, MAX_ROWS));
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
