import { Counter, Gauge, type Registry } from "@wonrail/kit/metrics";
import { type Settlement } from "./commands/settlePayment";
import { type Refusal } from "./domain/payment";

export type X402Metrics = ReturnType<typeof createX402Metrics>;

/** Metrics of payments by x402. A reason is one of the few words of `REASONS`. */
export function createX402Metrics(registry: Registry, gasPerDay: bigint) {
  const registers = [registry];
  const verifications = new Counter({
    name: "x402_verifications_total",
    help: "Payments by x402 that were verified, by outcome: valid, or the reason why not",
    labelNames: ["outcome"],
    registers,
  });
  const settlements = new Counter({
    name: "x402_settlements_total",
    help: "Requests to settle a payment by x402, by outcome: settled, or the reason why not; a repetition counts again",
    labelNames: ["outcome"],
    registers,
  });
  new Gauge({
    name: "x402_gas_limit",
    help: "Gas that the payments by x402 of one organisation may take in a day",
    registers,
  }).set(Number(gasPerDay));
  return {
    countVerification: (refusal: Refusal | null) =>
      verifications.inc({ outcome: refusal?.reason ?? "valid" }),
    countSettlement: ({ refusal }: Settlement) => settlements.inc({ outcome: refusal?.reason ?? "settled" }),
    gas: new Gauge({
      name: "x402_gas_today",
      help: "Gas that the payments by x402 of all organisations have used or reserved in this day (UTC)",
      registers,
    }),
    mostGas: new Gauge({
      name: "x402_gas_today_most",
      help: "The same of the organisation with the most gas; x402_gas_limit bounds it",
      registers,
    }),
  };
}
