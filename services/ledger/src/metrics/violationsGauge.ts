import type { Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import type { Violation } from "../store/checks";

/** What was looked at: what was touched since the last time, or everything. */
export type Scope = "touched" | "all";

export interface ViolationsGauge {
  /** What was found, for each invariant of the table; those without a row hold. */
  found(scope: Scope, table: Record<string, string>, rows: (Violation & { invariant: string })[]): void;
  /** Nobody knows: what was found earlier must not pass for what is. */
  unknown(scope: Scope, invariants: string[]): void;
}

export function createViolationsGauge({ log, registry }: { log: Log; registry: Registry }): ViolationsGauge {
  const gauge = new Gauge({
    name: "invariant_violations",
    help: "Rows of the ledger for which an invariant does not hold, absent while that is not known; more than 0 is an emergency",
    labelNames: ["invariant", "scope"],
    registers: [registry],
  });
  return {
    found(scope, table, rows) {
      for (const [invariant, says] of Object.entries(table)) {
        const violations = rows.filter((row) => row.invariant === invariant);
        gauge.set({ invariant, scope }, violations.length);
        if (violations.length === 0) continue;
        log.error(
          { invariant, scope, says, violations: violations.slice(0, 10) },
          "an invariant of the ledger does not hold",
        );
      }
    },
    unknown(scope, invariants) {
      for (const invariant of invariants) gauge.remove({ invariant, scope });
    },
  };
}
