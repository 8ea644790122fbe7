import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { type FrozenCounts } from "../store/frozenWallets";

export interface FrozenWalletsGauge {
  found(counts: FrozenCounts): void;
}

export function createFrozenWalletsGauge({ registry }: { registry: Registry }): FrozenWalletsGauge {
  const gauge = new Gauge({
    name: "ledger_wallets_frozen_by_operator",
    help: "Wallets that operators froze, by the movements that are refused",
    labelNames: ["freeze"],
    registers: [registry],
  });
  return {
    found({ outgoing, all }) {
      gauge.set({ freeze: "OUTGOING" }, outgoing);
      gauge.set({ freeze: "ALL" }, all);
    },
  };
}
