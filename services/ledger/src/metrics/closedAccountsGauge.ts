import type { Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import type { WalletType } from "../domain/accountTypes";
import type { ClosedWithBalance } from "../store/accounts";

export interface ClosedAccountsGauge {
  /** Shows the counts by type. A type without a row has none. */
  found(rows: ClosedWithBalance[]): void;
  /** Removes the counts, so that old ones do not pass for current ones. */
  unknown(): void;
}

const TYPES: WalletType[] = ["NORMAL", "INCENTIVE", "GOVERNMENT"];

export function createClosedAccountsGauge(deps: { log: Log; registry: Registry }): ClosedAccountsGauge {
  const gauge = new Gauge({
    name: "ledger_closed_accounts_with_balance",
    help: "Closed accounts with money from a deposit, until an operator reopens them; absent while not counted",
    labelNames: ["type"],
    registers: [deps.registry],
  });
  return {
    found(rows) {
      const counts = new Map(rows.map(({ type, accounts }) => [type, Number(accounts)]));
      for (const type of TYPES) gauge.set({ type }, counts.get(type) ?? 0);
      for (const { type, accounts, first } of rows)
        deps.log.warn({ type, accounts: Number(accounts), first }, "closed accounts hold money");
    },
    unknown() {
      for (const type of TYPES) gauge.remove({ type });
    },
  };
}
