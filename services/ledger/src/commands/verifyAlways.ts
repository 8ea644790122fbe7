import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@wonrail/kit/db";
import { verifyEntries, verifyTouched } from "../queries/verify";
import {
  ENTRY_INVARIANTS,
  TOUCHED_INVARIANTS,
  writtenUntil,
  type AccountViolation,
  type EntriesRead,
  type EntryRange,
} from "../store/checks";
import type { ViolationsGauge } from "./violationsGauge";

/** A request's id is older than its entry by as long as the request was on its way: hardly ever more than this. */
const OVERLAP_MS = 1_000;
/** Now and then those are looked for that were: a little sooner, since an entry has its time before its transaction writes. */
const LATE_MS = 500;
const LATE_EVERY_MS = 5 * 60_000;
/** What one statement reads, so that none of them holds the processor for long. Of those that may be late few are read further. */
const SLICE_MS = 2_000;
const LATE_SLICE_MS = 10_000;
/** Between two looks the processor is left to others for so many times as long as a look took. */
const REST = 3;

/** As many accounts as are read at once, and about as many as may wait for it. */
const ACCOUNTS_AT_ONCE = 2_000;
const MAX_WAITING = 100_000;

interface Verifying {
  db: Database;
  gauge: ViolationsGauge;
  maxWaiting: number;
  /** The numbers of accounts that were touched since they were last looked at. */
  touched: Set<bigint>;
}

/**
 * Verifies again and again what was posted since the last time, and says what it found as a gauge for each invariant: first the entries, then the
 * accounts that they touched. What cannot be done of the one does not keep the other back.
 */
export function verifyAlways(deps: { db: Database; gauge: ViolationsGauge; maxWaiting?: number }) {
  const { db, gauge, maxWaiting = MAX_WAITING } = deps;
  const verifying: Verifying = { db, gauge, maxWaiting, touched: new Set() };
  const verifyPosted = verifyPostedAlways(verifying);

  return async (signal: AbortSignal): Promise<void> => {
    const failures: unknown[] = [];
    const failed = (table: Record<string, string>) => (error: unknown) => {
      gauge.unknown("touched", Object.keys(table));
      failures.push(error);
    };
    await verifyPosted(signal).catch(failed(ENTRY_INVARIANTS));
    await verifyWaiting(verifying, signal).catch(failed(TOUCHED_INVARIANTS));
    if (failures.length > 0) throw failures[0];
  };
}

function verifyPostedAlways({ db, gauge, maxWaiting, touched }: Verifying) {
  let verifiedUntilMs = Date.now();
  let lateUntilMs = verifiedUntilMs;

  return async (signal: AbortSignal): Promise<void> => {
    const untilMs = (await writtenUntil(db)).getTime();
    const lateToo = untilMs - lateUntilMs >= LATE_EVERY_MS;
    const ranges = newEntries(verifiedUntilMs - OVERLAP_MS, untilMs);
    if (lateToo) ranges.push(...lateEntries(lateUntilMs - LATE_EVERY_MS, untilMs));
    const found: EntriesRead["violations"] = [];
    for (const range of ranges) {
      if (signal.aborted) return;
      // What cannot be remembered would not be looked at: this goes on next time, when fewer wait.
      if (touched.size >= maxWaiting) throw new Error(`${touched.size} accounts wait to be looked at`);
      const startMs = performance.now();
      const read = await verifyEntries(db, range);
      found.push(...read.violations);
      for (const number of read.touched) touched.add(number);
      // Should a later one fail, this one was done. What was found is found again until it is gone.
      if (found.length === 0 && range.lateMs === 0)
        verifiedUntilMs = Math.min(untilMs, range.until?.getTime() ?? untilMs);
      await sleep(REST * (performance.now() - startMs));
    }
    gauge.found("touched", ENTRY_INVARIANTS, found);
    if (lateToo && found.length === 0) lateUntilMs = untilMs;
  };
}

async function verifyWaiting({ db, gauge, touched }: Verifying, signal: AbortSignal): Promise<void> {
  const found: AccountViolation[] = [];
  const waiting = [...touched];
  for (let start = 0; start < waiting.length; start += ACCOUNTS_AT_ONCE) {
    if (signal.aborted) return;
    const startMs = performance.now();
    const numbers = waiting.slice(start, start + ACCOUNTS_AT_ONCE);
    const violations = await verifyTouched(db, numbers);
    found.push(...violations);
    if (violations.length === 0) for (const number of numbers) touched.delete(number);
    await sleep(REST * (performance.now() - startMs));
  }
  gauge.found("touched", TOUCHED_INVARIANTS, found);
}

export function newEntries(fromMs: number, untilMs: number): EntryRange[] {
  const ranges = slices(fromMs, untilMs, SLICE_MS, 0);
  // Whatever is newer by now, too.
  ranges.at(-1)!.until = null;
  return ranges;
}

export function lateEntries(fromMs: number, untilMs: number): EntryRange[] {
  return slices(fromMs, untilMs, LATE_SLICE_MS, LATE_MS);
}

function slices(fromMs: number, untilMs: number, sliceMs: number, lateMs: number): EntryRange[] {
  const ranges: EntryRange[] = [];
  let atMs = fromMs;
  do {
    ranges.push({ from: new Date(atMs), until: new Date(atMs + sliceMs), lateMs });
    atMs += sliceMs;
  } while (atMs < untilMs);
  return ranges;
}
