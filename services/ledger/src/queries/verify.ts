import { tx, type Database, type Tx } from "@wonrail/kit/db";
import { listPosters } from "../intents";
import { findClosedWithBalance, type ClosedWithBalance } from "../store/accounts";
import {
  ACCOUNT_CHECKS,
  countAll,
  findViolations,
  lockJournal,
  prepareChecks,
  type Check,
  type Counted,
  type Violation,
} from "../store/checks";
import {
  ENTRIES_AT_ONCE,
  entryChecks,
  lineChecks,
  nextLineWindows,
  nextOrganisations,
  organisationChecks,
} from "../store/journalChecks";
import { findHead } from "../store/journalHeads";

export interface CheckResult {
  invariant: string;
  says: string;
  violations: Violation[];
}

/** The number of violations, and the names of the invariants that they break. */
export function brokenIn(results: CheckResult[]): { violations: number; brokenInvariants: string[] } {
  const broken = results.filter(({ violations }) => violations.length > 0);
  return {
    violations: broken.reduce((sum, { violations }) => sum + violations.length, 0),
    brokenInvariants: [...new Set(broken.map(({ invariant }) => invariant))],
  };
}

export interface Verified {
  results: CheckResult[];
  counted: Counted;
}

export interface VerifyOptions {
  signal?: AbortSignal;
  /** Called after each window, to pause. */
  rest?: (tookMs: number) => Promise<void>;
}

const MAX_ROWS = 100;
const ORGANISATIONS_AT_ONCE = 1_000;

/** Runs one check of all accounts. Reads no journal, so a month may be detached meanwhile. */
export function verifyCheck(db: Database, check: Check, signal?: AbortSignal): Promise<Violation[]> {
  return onSnapshot(db, (tx) => findViolations(tx, check, MAX_ROWS), signal);
}

/** Finds closed accounts that hold money. They break no invariant, but only an operator can let the money out. */
export function findClosed(db: Database, signal?: AbortSignal): Promise<ClosedWithBalance[]> {
  return onSnapshot(db, findClosedWithBalance, signal);
}

/**
 * Checks every invariant over all tables, in bounded windows with a snapshot each. Entries may be posted
 * between two windows, because each window is consistent in itself.
 */
export async function verifyAll(db: Database, options: VerifyOptions = {}): Promise<Verified> {
  const results = new Map<string, CheckResult>();
  const run = (checks: Check[]) => runWindow(db, checks, results, options);
  for (const check of ACCOUNT_CHECKS) await run([check]);
  await forEachAccountWindow(db, run);
  await forEachOrganisation(db, async (orgId) => {
    const last = await findHead(db, orgId);
    for (let after = 0n; after === 0n || after < last; after += ENTRIES_AT_ONCE)
      await run(entryChecks({ orgId, after, last: after + ENTRIES_AT_ONCE }, listPosters()));
    await run(organisationChecks(orgId));
  });
  return { results: [...results.values()], counted: await onSnapshot(db, countAll, options.signal) };
}

async function forEachAccountWindow(db: Database, run: (checks: Check[]) => Promise<void>): Promise<void> {
  let afterNumber = 0n;
  for (;;) {
    const windows = await nextLineWindows(db, afterNumber);
    if (windows.length === 0) return;
    for (const window of windows) await run(lineChecks(window));
    for (const { numbers } of windows)
      for (const number of numbers) if (number > afterNumber) afterNumber = number;
  }
}

async function forEachOrganisation(db: Database, work: (orgId: string) => Promise<void>): Promise<void> {
  let last: string | null = null;
  for (;;) {
    const orgIds: string[] = await nextOrganisations(db, last, ORGANISATIONS_AT_ONCE);
    for (const orgId of orgIds) await work(orgId);
    if (orgIds.length < ORGANISATIONS_AT_ONCE) return;
    last = orgIds.at(-1)!;
  }
}

/** Adds the findings of one window to the results. Each invariant keeps at most 100 rows. */
async function runWindow(
  db: Database,
  checks: Check[],
  results: Map<string, CheckResult>,
  { signal, rest }: VerifyOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const startMs = performance.now();
  await onJournal(
    db,
    async (tx) => {
      for (const check of checks) {
        const { invariant, says } = check;
        const result = results.get(invariant) ?? { invariant, says, violations: [] };
        results.set(invariant, result);
        const room = MAX_ROWS - result.violations.length;
        if (room > 0) result.violations.push(...(await findViolations(tx, check, room)));
      }
    },
    signal,
  );
  await rest?.(performance.now() - startMs);
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
