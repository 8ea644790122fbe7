import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "@wonrail/kit/db";
import { findClosed, verifyCheck } from "../queries/verify";
import { ACCOUNT_CHECKS, tryLockAccounts } from "../store/checks";
import type { ClosedAccountsGauge } from "../metrics/closedAccountsGauge";
import type { ViolationsGauge } from "../metrics/violationsGauge";

/** Between two turns, the database is left to others for so many times as long as a turn took. */
const REST = 9;
const LONGEST_REST_MS = 10 * 60_000;

interface Verifying {
  /** Whose statements may take long. */
  db: Database;
  gauge: ViolationsGauge;
  closedGauge: ClosedAccountsGauge;
}

/**
 * Goes through all accounts, which takes the longer the more there are: a turn of its own, of one replica at a time, which keeps the lock while it
 * rests. A check that fails does not keep the others back.
 */
export async function verifyAccounts(deps: Verifying, signal: AbortSignal): Promise<void> {
  const { db } = deps;
  const failures = await db
    .dedicated(async (connection) => {
      // Where it is another replica's turn, that one says what is.
      if (!(await tryLockAccounts(connection, db.schema))) return forget(deps);
      const startMs = performance.now();
      const failures = await checkAll(deps, signal);
      const restMs = Math.min(LONGEST_REST_MS, REST * (performance.now() - startMs));
      await sleep(restMs, undefined, { signal }).catch(() => undefined);
      return failures;
    })
    .catch((error: unknown) => [...forget(deps), error]);
  if (failures.length > 0) throw failures[0];
}

async function checkAll({ db, gauge, closedGauge }: Verifying, signal: AbortSignal): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const check of ACCOUNT_CHECKS) {
    if (signal.aborted) break;
    const { invariant, says } = check;
    try {
      const violations = await verifyCheck(db, check, signal);
      const rows = violations.map((row) => ({ ...row, invariant }));
      gauge.found("all", { [invariant]: says }, rows);
    } catch (error) {
      if (signal.aborted) break;
      gauge.unknown("all", [invariant]);
      failures.push(error);
    }
  }
  if (signal.aborted) return failures;
  try {
    closedGauge.found(await findClosed(db, signal));
  } catch (error) {
    if (signal.aborted) return failures;
    closedGauge.unknown();
    failures.push(error);
  }
  return failures;
}

function forget({ gauge, closedGauge }: Verifying): unknown[] {
  closedGauge.unknown();
  gauge.unknown(
    "all",
    ACCOUNT_CHECKS.map(({ invariant }) => invariant),
  );
  return [];
}
