import { Gauge, type Registry } from "@wonrail/kit/metrics";

export type ReconcileGauges = ReturnType<typeof createReconcileGauges>;

export function createReconcileGauges(registry: Registry) {
  const registers = [registry];
  return {
    drift: new Gauge({
      name: "ledger_chain_drift_won",
      help: "By how much the books differ, of what nobody has acknowledged, by which books",
      labelNames: ["kind"],
      registers,
    }),
    drifts: new Gauge({
      name: "reconciliation_open_drifts",
      help: "Differences that nobody has acknowledged",
      labelNames: ["kind"],
      registers,
    }),
    lastSuccess: new Gauge({
      name: "reconciliation_last_success_timestamp_seconds",
      help: "When all books were last compared, by whichever replica",
      registers,
    }),
    wallets: new Gauge({
      name: "reconciliation_wallets",
      help: "Wallets of the last comparison with the ledger: compared, or moving at that moment",
      labelNames: ["state"],
      registers,
    }),
    deposits: new Gauge({
      name: "deposits_unbooked",
      help: "Deposits that the ledger does not have: to be credited, below one KRW, or too large",
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
