import type { Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import type { CheckResult } from "../queries/verify";

/** The reporting job: over all accounts, or over the whole journal. */
export type Scope = "accounts" | "journal";

export interface ViolationsGauge {
  found(scope: Scope, results: CheckResult[]): void;
  /** Removes the results of a scope, so that old ones do not pass for current ones. */
  forget(scope: Scope): void;
}

export function createViolationsGauge({ log, registry }: { log: Log; registry: Registry }): ViolationsGauge {
  const gauge = new Gauge({
    name: "invariant_violations",
    help: "Rows of the ledger that break an invariant, absent while it is not verified; more than 0 is an emergency",
    labelNames: ["invariant", "scope"],
    registers: [registry],
  });
  const shown: Record<Scope, string[]> = { accounts: [], journal: [] };
  return {
    found(scope, results) {
      shown[scope] = results.map(({ invariant }) => invariant);
      for (const { invariant, says, violations } of results) {
        gauge.set({ invariant, scope }, violations.length);
        if (violations.length === 0) continue;
        log.error(
          { invariant, scope, says, violations: violations.slice(0, 10) },
          "an invariant of the ledger does not hold",
        );
      }
    },
    forget(scope) {
      for (const invariant of shown[scope]) gauge.remove({ invariant, scope });
      shown[scope] = [];
    },
  };
}
