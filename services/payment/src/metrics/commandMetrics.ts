import { Counter, type Registry } from "@wonrail/kit/metrics";

/**
 * `posted`: the ledger posted it now. `replayed`: an earlier attempt with the key had. `refused`: 4xx. `failed`: this
 * attempt changed nothing. `unknown`: the ledger may have posted it.
 */
export type CommandOutcome = "posted" | "replayed" | "refused" | "failed" | "unknown";

export type CommandMetrics = ReturnType<typeof createCommandMetrics>;

export function createCommandMetrics(registry: Registry) {
  const commands = new Counter({
    name: "payment_commands_total",
    help: "Commands by kind and outcome",
    labelNames: ["kind", "outcome"],
    registers: [registry],
  });
  return {
    begin(kind: string) {
      return (outcome: CommandOutcome) => commands.inc({ kind, outcome });
    },
  };
}
