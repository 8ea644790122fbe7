import { tx, type Database, type Tx } from "@wonrail/kit/db";
import { findClosedWithBalance, type ClosedWithBalance } from "../store/accounts";
import {
  ACCOUNT_CHECKS,
  JOURNAL_CHECKS,
  countAll,
  findViolations,
  lockJournal,
  prepareChecks,
  type Check,
  type Counted,
  type Violation,
} from "../store/checks";
export interface CheckResult {
  invariant: string;
  says: string;
  violations: Violation[];
}

const MAX_ROWS = 100;
/** One check of all accounts. Reads nothing of the journal, and keeps no month from leaving. */
export function verifyCheck(db: Database, check: Check, signal?: AbortSignal): Promise<Violation[]> {
  return onSnapshot(db, (tx) => findViolations(tx, check, MAX_ROWS), signal);
}

/** Not wrong, but somebody has to look: the accounts that are closed and hold money. */
export function findClosed(db: Database, signal?: AbortSignal): Promise<ClosedWithBalance[]> {
  return onSnapshot(db, findClosedWithBalance, signal);
}

/** Everything there is, with what was counted. */
export function verifyAll(db: Database): Promise<{ results: CheckResult[]; counted: Counted }> {
  const checks = [...ACCOUNT_CHECKS, ...JOURNAL_CHECKS];
  return onJournal(db, async (tx) => ({
    results: await runChecks(tx, checks),
    counted: await countAll(tx),
  }));
}

function onJournal<T>(db: Database, work: (tx: Tx) => Promise<T>, signal?: AbortSignal): Promise<T> {
  return onSnapshot(
    db,
    async (tx) => {
      await lockJournal(tx);
      return work(tx);
    },
    signal,
  );
}

function onSnapshot<T>(db: Database, work: (tx: Tx) => Promise<T>, signal?: AbortSignal): Promise<T> {
  return tx(
    db,
    async (tx) => {
      await prepareChecks(tx);
      return work(tx);
    },
    { isolation: "repeatable read", readOnly: true, ...(signal && { signal }) },
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
