import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@wonrail/kit/db";
import { verifyEntries, verifyEntriesOf, verifyTouched } from "../queries/verify";
import { TOUCHED_INVARIANTS, writtenUntil, type AccountViolation, type Violation } from "../store/checks";
import {
  ENTRY_INVARIANTS,
  type EntriesRead,
  type EntryKey,
  type EntryRange,
  type EntryViolation,
} from "../store/entryChecks";
import { createFindings, type Findings } from "../domain/findings";
import { keyOfEntry, type PostedLate } from "../store/postedLate";
import type { ViolationsGauge } from "../metrics/violationsGauge";

/** Where a process begins: as far back as verifying may stand still before an alarm says so, for what was posted while nobody verified. */
const LOOK_BACK_MS = 3 * 60_000;
/** A request's id is older than its entry by as long as the request was on its way: hardly ever more than this. */
const OVERLAP_MS = 1_000;
/** Now and then those are looked for that were: a little sooner, since an entry has its time before its transaction writes. */
const LATE_MS = 500;
const LATE_EVERY_MS = 5 * 60_000;
/** What one statement reads, so that none of them holds the processor for long. Of those that may be late few are read further. */
const SLICE_MS = 2_000;
const LATE_SLICE_MS = 10_000;
/** A clock that makes ids may be ahead by so much: what is not further ahead is read when its time has come, and not in each round until then. */
const AHEAD_MS = 60_000;
/** As the database's clock says years when it is wrong: hours of work go in slices of that size, and what is more in larger ones. */
const MAX_SLICES = 10_000;
/** Between two looks the processor is left to others for so many times as long as a look took. */
const REST = 3;

/** As many accounts and single entries as are read at once, and about as many accounts as may wait for it. */
const ACCOUNTS_AT_ONCE = 2_000;
const ENTRIES_AT_ONCE = 200;
const MAX_WAITING = 100_000;
/** Entries and accounts of which it is remembered that something is wrong. By then everybody is awake. */
const MAX_FOUND = 1_000;

interface VerifyAlways {
  db: Database;
  gauge: ViolationsGauge;
  /** What cannot be found by the time of its id. */
  late: PostedLate;
  maxWaiting?: number;
  sinceMs?: number;
}

type Verifying = Required<VerifyAlways> & {
  /** The numbers of accounts that were touched since they were last looked at. */
  touched: Set<bigint>;
  entries: Findings<EntryKey, EntryViolation>;
  accounts: Findings<Pick<AccountViolation, "accountNumber">, AccountViolation>;
};

/**
 * Verifies again and again what was posted since the last time, and says what it found as a gauge for each invariant: first the entries, then the
 * accounts that they touched. What cannot be done of the one does not keep the other back. Where something was found is looked at in each round, until
 * it is gone.
 */
export function verifyAlways(deps: VerifyAlways) {
  const verifying: Verifying = {
    maxWaiting: MAX_WAITING,
    sinceMs: Date.now() - LOOK_BACK_MS,
    ...deps,
    touched: new Set(),
    entries: createFindings(MAX_FOUND, keyOfEntry),
    accounts: createFindings(MAX_FOUND, ({ accountNumber }) => `${accountNumber}`),
  };
  const { gauge, entries, accounts } = verifying;
  const verifyPosted = verifyPostedAlways(verifying);

  return async (signal: AbortSignal): Promise<void> => {
    const failures: unknown[] = [];
    const attempt = async (work: (signal: AbortSignal) => Promise<void>): Promise<boolean> =>
      work(signal).then(
        () => true,
        (error: unknown) => (failures.push(error), false),
      );
    const again = await attempt((signal) => verifyFound(verifying, signal));
    const late = await attempt((signal) => verifyLate(verifying, signal));
    const posted = await attempt(verifyPosted);
    if (signal.aborted) return;
    tell(gauge, ENTRY_INVARIANTS, entries, again && late && posted);
    const waiting = await attempt((signal) => verifyWaiting(verifying, signal));
    if (signal.aborted) return;
    tell(gauge, TOUCHED_INVARIANTS, accounts, waiting);
    if (failures.length > 0) throw failures[0];
  };
}

/** Where not everything could be looked at, nobody knows of what was not found that it is not there. */
function tell<Place, Row extends Place & Violation & { invariant: string }>(
  gauge: ViolationsGauge,
  table: Record<string, string>,
  findings: Findings<Place, Row>,
  complete: boolean,
): void {
  const rows = findings.rows();
  const told = Object.entries(table).filter(
    ([name]) => complete || rows.some(({ invariant }) => invariant === name),
  );
  const known = Object.fromEntries(told);
  gauge.found("touched", known, rows);
  gauge.unknown(
    "touched",
    Object.keys(table).filter((name) => !(name in known)),
  );
  findings.trim();
}

function verifyFound({ db, entries }: Verifying, signal: AbortSignal): Promise<void> {
  return inParts(entries.places(), ENTRIES_AT_ONCE, signal, async (keys) => {
    const { violations } = await verifyEntriesOf(db, keys, signal);
    entries.looked(keys, violations);
  });
}

async function verifyLate(verifying: Verifying, signal: AbortSignal): Promise<void> {
  const { db, late, entries } = verifying;
  await inParts(late.waiting(), ENTRIES_AT_ONCE, signal, async (keys) => {
    const { violations } = await readTouching(verifying, () => verifyEntriesOf(db, keys, signal));
    entries.looked(keys, violations);
    late.verified(keys);
  });
  const lost = late.takeLost();
  if (lost > 0) throw new Error(`${lost} entries that were posted late could not be remembered`);
}

function verifyPostedAlways(verifying: Verifying) {
  const { db, entries, sinceMs } = verifying;
  let verifiedUntilMs = sinceMs;
  let lateUntilMs = sinceMs;
  let clockMs = sinceMs;

  return async (signal: AbortSignal): Promise<void> => {
    const { until, now } = await writtenUntil(db);
    const untilMs = until.getTime();
    // A clock that was set back: until it had come to where it was, nothing late would be looked for, and what was posted meanwhile is among it.
    if (now.getTime() < clockMs) {
      verifiedUntilMs = untilMs - LOOK_BACK_MS;
      lateUntilMs = untilMs - LATE_EVERY_MS;
    }
    clockMs = now.getTime();
    const lateToo = untilMs - lateUntilMs >= LATE_EVERY_MS;
    const ranges = newEntries(verifiedUntilMs - OVERLAP_MS, untilMs);
    if (lateToo) ranges.push(...lateEntries(lateUntilMs - LATE_EVERY_MS, untilMs));
    await inParts(ranges, 1, signal, async ([range]) => {
      const { violations } = await readTouching(verifying, () => verifyEntries(db, range!, signal));
      entries.looked([], violations);
      // Should a later one fail, this one was done.
      if (range!.lateMs === 0) verifiedUntilMs = Math.min(untilMs, range!.until?.getTime() ?? untilMs);
    });
    if (lateToo && !signal.aborted) lateUntilMs = untilMs;
  };
}

async function readTouching(
  { touched, maxWaiting }: Verifying,
  read: () => Promise<EntriesRead>,
): Promise<EntriesRead> {
  // What cannot be remembered would not be looked at: this goes on next time, when fewer wait.
  if (touched.size >= maxWaiting) throw new Error(`${touched.size} accounts wait to be looked at`);
  const entries = await read();
  for (const number of entries.touched) touched.add(number);
  return entries;
}

/** Those with which something was wrong are among them until nothing is. */
function verifyWaiting({ db, touched, accounts }: Verifying, signal: AbortSignal): Promise<void> {
  const found = accounts.places().map(({ accountNumber }) => accountNumber);
  return inParts([...new Set([...found, ...touched])], ACCOUNTS_AT_ONCE, signal, async (numbers) => {
    const violations = await verifyTouched(db, numbers, signal);
    accounts.looked(
      numbers.map((accountNumber) => ({ accountNumber })),
      violations,
    );
    for (const number of numbers) touched.delete(number);
  });
}

async function inParts<T>(
  all: T[],
  size: number,
  signal: AbortSignal,
  work: (part: T[]) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < all.length && !signal.aborted; start += size) {
    const startMs = performance.now();
    await work(all.slice(start, start + size));
    const restMs = REST * (performance.now() - startMs);
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
}

/** What is newer by now is the next round's. At last what a clock that is wrong has dated far ahead, which hardly ever is anything. */
export function newEntries(fromMs: number, untilMs: number): EntryRange[] {
  const farAhead = { from: new Date(untilMs + AHEAD_MS), until: null, lateMs: 0 };
  return [...slices(fromMs, untilMs, SLICE_MS, 0), farAhead];
}

export function lateEntries(fromMs: number, untilMs: number): EntryRange[] {
  return slices(fromMs, untilMs, LATE_SLICE_MS, LATE_MS);
}

function slices(fromMs: number, untilMs: number, sliceMs: number, lateMs: number): EntryRange[] {
  const ranges: EntryRange[] = [];
  const stepMs = Math.max(sliceMs, Math.ceil((untilMs - fromMs) / MAX_SLICES));
  let atMs = fromMs;
  do {
    ranges.push({ from: new Date(atMs), until: new Date(Math.min(atMs + stepMs, untilMs)), lateMs });
    atMs += stepMs;
  } while (atMs < untilMs);
  return ranges;
}
