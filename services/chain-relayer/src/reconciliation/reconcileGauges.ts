import { Gauge, type Registry } from "@wonrail/kit/metrics";

export type ReconcileGauges = ReturnType<typeof createReconcileGauges>;

export function createReconcileGauges(registry: Registry) {
  const registers = [registry];
  return {
    drift: new Gauge({
      name: "ledger_chain_drift_won",
      help: "Unacknowledged differences between chain and ledger in won, by kind",
      labelNames: ["kind"],
      registers,
    }),
    drifts: new Gauge({
      name: "reconciliation_open_drifts",
      help: "Differences that no operator has acknowledged",
      labelNames: ["kind"],
      registers,
    }),
    lastSuccess: new Gauge({
      name: "reconciliation_last_success_timestamp_seconds",
      help: "Time of the last complete comparison of chain and ledger by any replica, in Unix seconds",
      registers,
    }),
    wallets: new Gauge({
      name: "reconciliation_wallets",
      help: "Wallets of the last comparison with the ledger: compared, or skipped because their money was moving",
      labelNames: ["state"],
      registers,
    }),
    deposits: new Gauge({
      name: "deposits_unbooked",
      help: "Deposits without a ledger entry, by state: waiting for it, below one KRW, or too large",
      labelNames: ["state"],
      registers,
    }),
    oldestDeposit: new Gauge({
      name: "deposits_oldest_seen_seconds",
      help: "Age of the oldest deposit that waits for its credit",
      registers,
    }),
    remainder: new Gauge({
      name: "deposits_remainder_units",
      help: "Part of the deposits on the chain below one whole KRW, in units of the token",
      registers,
    }),
  };
}
