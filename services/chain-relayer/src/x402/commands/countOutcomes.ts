import { type Refusal } from "../domain/payment";
import { type X402Metrics } from "../x402Metrics";
import { type SettleDeps, type Settlement, settlePayment } from "./settlePayment";
import { type PaymentInput, type VerifyDeps, verifyPayment } from "./verifyPayment";

/** Verifies a payment for a merchant, and counts the outcome. */
export async function verifyAndCount(
  deps: VerifyDeps & { x402Metrics: Pick<X402Metrics, "countVerification"> },
  input: PaymentInput,
): Promise<Refusal | null> {
  const refusal = await verifyPayment(deps, input);
  deps.x402Metrics.countVerification(refusal);
  return refusal;
}

/** Settles a payment for a merchant, and counts the outcome. */
export async function settleAndCount(
  deps: SettleDeps & { x402Metrics: Pick<X402Metrics, "countSettlement"> },
  input: PaymentInput & { waitMs: number },
): Promise<Settlement> {
  const settlement = await settlePayment(deps, input);
  deps.x402Metrics.countSettlement(settlement);
  return settlement;
}
