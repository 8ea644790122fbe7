import type { Database } from "@wonrail/kit/db";
import type { Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { verifySince } from "../queries/verify";

/** A request's id is older than its entry by as long as the request was on its way: hardly ever more than this. */
const OVERLAP_MS = 2_000;
/** Now and then also those are looked at that were on their way for longer, as after an outage. */
const LATE_EVERY_MS = 5 * 60_000;

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

  return async (_signal: AbortSignal): Promise<void> => {
    const startMs = Date.now();
    const lateToo = startMs - lateUntilMs >= LATE_EVERY_MS;
    const sinceMs = lateToo ? lateUntilMs - LATE_EVERY_MS : verifiedUntilMs - OVERLAP_MS;
    const results = await verifySince(db, new Date(sinceMs));
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
    verifiedUntilMs = sound ? startMs : sinceMs + OVERLAP_MS;
    if (sound && lateToo) lateUntilMs = startMs;
  };
}
