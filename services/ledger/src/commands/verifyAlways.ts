import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@wonrail/kit/db";
import type { Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { verifyAccounts, verifyEntries } from "../queries/verify";
import { ENTRY_INVARIANTS, writtenUntil, type EntryRange, type Violation } from "../store/checks";

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

/** Verifies again and again what was posted since the last time, and says what it found as a gauge for each invariant. */
export function verifyAlways({ db, log, registry }: { db: Database; log: Log; registry: Registry }) {
  const gauge = new Gauge({
    name: "invariant_violations",
    help: "Rows of the ledger for which an invariant does not hold; more than 0 is an emergency",
    labelNames: ["invariant"],
    registers: [registry],
  });
  let verifiedUntilMs = Date.now();
  let lateUntilMs = verifiedUntilMs;

  return async (signal: AbortSignal): Promise<void> => {
    const untilMs = (await writtenUntil(db)).getTime();
    const sinceMs = verifiedUntilMs - OVERLAP_MS;
    const lateToo = untilMs - lateUntilMs >= LATE_EVERY_MS;
    const ranges = newEntries(sinceMs, untilMs);
    if (lateToo) ranges.push(...lateEntries(lateUntilMs - LATE_EVERY_MS, untilMs));
    const results = await verifySince(db, ranges, signal);
    if (signal.aborted) return;
    let sound = true;
    for (const { invariant, says, violations } of results) {
      gauge.set({ invariant }, violations.length);
      if (violations.length === 0) continue;
      sound = false;
      log.error(
        { invariant, says, violations: violations.slice(0, 10) },
        "an invariant of the ledger does not hold",
      );
    }
    // What was found is found again until it is gone.
    if (!sound) return;
    verifiedUntilMs = untilMs;
    if (lateToo) lateUntilMs = untilMs;
  };
}

/** The accounts, and these entries. */
export async function verifySince(db: Database, ranges: EntryRange[], signal?: AbortSignal) {
  const results = await verifyAccounts(db);
  const found: (Violation & { invariant: string })[] = [];
  for (const range of ranges) {
    if (signal?.aborted) break;
    const startMs = performance.now();
    found.push(...(await verifyEntries(db, range)));
    await sleep(REST * (performance.now() - startMs));
  }
  for (const [invariant, says] of Object.entries(ENTRY_INVARIANTS)) {
    results.push({ invariant, says, violations: found.filter((row) => row.invariant === invariant) });
  }
  return results;
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
