import { tx, type Database, type Tx } from "@wonrail/kit/db";
import { groupBy } from "@wonrail/kit/groupBy";
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
/** Keeps what one statement reads small, however long ago the last one was. */
const SLICE_MS = 60_000;

/** The accounts, and the entries made since. On one snapshot, so that a batch is seen whole or not at all. */
export function verifySince(db: Database, since: Date): Promise<CheckResult[]> {
  const slices: Check[] = [];
  for (let fromMs = since.getTime(), nowMs = Date.now(); fromMs < nowMs; fromMs += SLICE_MS) {
    const untilMs = fromMs + SLICE_MS;
    slices.push(...entryChecks(new Date(fromMs), untilMs < nowMs ? new Date(untilMs) : null));
  }
  return onSnapshot(db, async (tx) => merge(await runChecks(tx, [...ACCOUNT_CHECKS, ...slices])));
}

function merge(results: CheckResult[]): CheckResult[] {
  return [...groupBy(results, ({ invariant }) => invariant).values()].map((same) => ({
    ...same[0]!,
    violations: same.flatMap(({ violations }) => violations),
  }));
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
