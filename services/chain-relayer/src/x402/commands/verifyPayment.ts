import { type Database } from "@wonrail/kit/db";
import { isRefusal, type PaymentRequest, type Refusal, refusal } from "../domain/payment";
import { findPayment } from "../store/payments";
import { type AcceptDeps, checkAcceptance } from "./checkAcceptance";
import { keyOf, readForWallet } from "./readForWallet";

export interface VerifyDeps extends AcceptDeps {
  db: Database;
}

export interface PaymentInput {
  orgId: string;
  payment: PaymentRequest;
}

/** Checks a payment, also against the chain. Returns why it cannot be settled; null if it can. */
export async function verifyPayment(deps: VerifyDeps, input: PaymentInput): Promise<Refusal | null> {
  const asked = await readForWallet(deps, input);
  if (isRefusal(asked)) return asked;
  const stored = await findPayment(deps.db, keyOf(asked));
  if (stored && stored.state !== "FAILED")
    return refusal("nonceUsed", "the authorization was given to us for settlement before");
  const accepted = await checkAcceptance(deps, asked);
  return isRefusal(accepted) ? accepted : null;
}
