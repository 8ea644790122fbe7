import { tx, type Database, type Tx } from "@wonrail/kit/db";
import {
  ACCOUNT_CHECKS,
  JOURNAL_CHECKS,
  countAll,
  entryChecks,
  findViolations,
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

/** The accounts, and the entries made since. On one snapshot, so that a batch is seen whole or not at all. */
export function verifySince(db: Database, since: Date): Promise<CheckResult[]> {
  return onSnapshot(db, (tx) => runChecks(tx, [...ACCOUNT_CHECKS, ...entryChecks(since)]));
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
