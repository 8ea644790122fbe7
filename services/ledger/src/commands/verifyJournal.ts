import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@wonrail/kit/db";
import type { ViolationsGauge } from "../metrics/violationsGauge";
import { brokenIn, verifyAll } from "../queries/verify";
import { tryLockTurn } from "../store/checks";
import { saveVerification } from "../store/verifications";

/** The pause after each window is this many times its duration, to leave the database to others. */
const REST = 9;
const LONGEST_REST_MS = 60_000;

/** Verifies the whole journal in bounded windows. A lease lets one replica verify at a time. */
export async function verifyJournal(
  { db, gauge }: { db: Database; gauge: ViolationsGauge },
  signal: AbortSignal,
): Promise<void> {
  const rest = async (tookMs: number): Promise<void> => {
    const restMs = Math.min(LONGEST_REST_MS, REST * tookMs);
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  };
  await db.dedicated(async (connection) => {
    // Another replica that has the turn reports what it finds.
    if (!(await tryLockTurn(connection, "verify journal", db.schema))) return gauge.forget("journal");
    try {
      const { results } = await verifyAll(db, { signal, rest });
      gauge.found("journal", results);
      await saveVerification(db, { scope: "journal", ...brokenIn(results) });
    } catch (error) {
      if (signal.aborted) return;
      gauge.forget("journal");
      throw error;
    }
  });
}
