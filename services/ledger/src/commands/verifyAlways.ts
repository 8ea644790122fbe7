import type { Database } from "@wonrail/kit/db";
import type { Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { verifySince } from "../queries/verify";

/** A request's id is older than its entry by as long as the request was on its way. */
const OVERLAP_MS = 5 * 60_000;

/** Verifies again and again what was posted since the last time, and says what it found as a gauge for each invariant. */
export function verifyAlways({ db, log, registry }: { db: Database; log: Log; registry: Registry }) {
  const gauge = new Gauge({
    name: "invariant_violations",
    help: "Rows of the ledger for which an invariant does not hold; more than 0 is an emergency",
    labelNames: ["invariant"],
    registers: [registry],
  });
  let verifiedUntilMs = Date.now();

  return async (_signal: AbortSignal): Promise<void> => {
    const startMs = Date.now();
    const results = await verifySince(db, new Date(verifiedUntilMs - OVERLAP_MS));
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
    if (sound) verifiedUntilMs = startMs;
  };
}
