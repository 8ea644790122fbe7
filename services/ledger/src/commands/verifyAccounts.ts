import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@wonrail/kit/db";
import { brokenIn, findClosed, verifyCheck, type CheckResult } from "../queries/verify";
import { ACCOUNT_CHECKS, tryLockTurn } from "../store/checks";
import { saveVerification } from "../store/verifications";
import type { ClosedAccountsGauge } from "../metrics/closedAccountsGauge";
import type { ViolationsGauge } from "../metrics/violationsGauge";

/**
 * The pause between two rounds is this many times a round's duration, to leave the database to
 * others.
 */
const REST = 9;
const LONGEST_REST_MS = 10 * 60_000;

interface Verifying {
  /** Its statements may take long. */
  db: Database;
  gauge: ViolationsGauge;
  closedGauge: ClosedAccountsGauge;
}

/** Checks all accounts without the journal. A lease lets one replica verify at a time. */
export async function verifyAccounts(deps: Verifying, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  await db.dedicated(async (connection) => {
    // Another replica that has the turn reports what it finds.
    if (!(await tryLockTurn(connection, "verify accounts", db.schema))) return forget(deps);
    const startMs = performance.now();
    try {
      await checkAll(deps, signal);
    } catch (error) {
      if (signal.aborted) return;
      forget(deps);
      throw error;
    }
    const restMs = Math.min(LONGEST_REST_MS, REST * (performance.now() - startMs));
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  });
}

async function checkAll({ db, gauge, closedGauge }: Verifying, signal: AbortSignal): Promise<void> {
  const results: CheckResult[] = [];
  for (const check of ACCOUNT_CHECKS) {
    const { invariant, says } = check;
    results.push({ invariant, says, violations: await verifyCheck(db, check, signal) });
  }
  gauge.found("accounts", results);
  await saveVerification(db, { scope: "accounts", ...brokenIn(results) });
  closedGauge.found(await findClosed(db, signal));
}

function forget({ gauge, closedGauge }: Verifying): void {
  closedGauge.unknown();
  gauge.forget("accounts");
}
