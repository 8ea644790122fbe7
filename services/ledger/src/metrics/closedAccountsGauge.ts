import type { Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import type { WalletType } from "../domain/types";
import type { ClosedWithBalance } from "../store/accounts";

export interface ClosedAccountsGauge {
  /** What was found of each type; of those without a row there is none. */
  found(rows: ClosedWithBalance[]): void;
  /** Nobody knows: what was found earlier must not pass for what is. */
  unknown(): void;
}

const TYPES: WalletType[] = ["NORMAL", "INCENTIVE", "GOVERNMENT"];

export function createClosedAccountsGauge(deps: { log: Log; registry: Registry }): ClosedAccountsGauge {
  const gauge = new Gauge({
    name: "ledger_closed_accounts_with_balance",
    help: "Closed accounts that hold money, by type, absent while that is not known: a deposit reached them, and it stays until an operator opens them again",
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
