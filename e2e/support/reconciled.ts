import { setTimeout as sleep } from "node:timers/promises";
import { type Stack } from "@wonrail/local/stackFile";

/** The reconciler's result for all books. */
export interface Reconciled {
  wallets: number;
  drifts: number;
}

const PAUSE_MS = 500;

/** The first comparison that ends after now. */
export async function reconciled(stack: Stack, withinMs = 120_000): Promise<Reconciled> {
  const sinceSeconds = Date.now() / 1_000;
  for (const endMs = Date.now() + withinMs; Date.now() < endMs; await sleep(PAUSE_MS)) {
    const metrics = await readMetrics(stack.services["chain-relayer"]!.ops);
    if (sumOf(metrics, "reconciliation_last_success_timestamp_seconds") < sinceSeconds) continue;
    return {
      wallets: sumOf(metrics, 'reconciliation_wallets{state="compared"'),
      drifts: sumOf(metrics, "reconciliation_open_drifts"),
    };
  }
  throw new Error(`The books were not compared within ${withinMs / 1_000} s.`);
}

async function readMetrics(ops: string): Promise<string[]> {
  return (await (await fetch(`http://${ops}/metrics`)).text()).split("\n");
}

/** Sums lines with this start; a metric without a value counts as 0. */
function sumOf(lines: string[], start: string): number {
  const found = lines.filter((line) => line.startsWith(start));
  return found.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}
