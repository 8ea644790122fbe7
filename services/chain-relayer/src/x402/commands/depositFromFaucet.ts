import { createHash } from "node:crypto";
import { sameAddress } from "@wonrail/kit/contract/address";
import { DomainError } from "@wonrail/kit/contract/errors";
import { newId } from "@wonrail/kit/contract/ids";
import { TOKEN_UNITS_PER_WON, type Won } from "@wonrail/kit/contract/money";
import { type Faucet, hashTransferAuthorization, type TransferAuthorization } from "../../evm";
import { exactPayment, REASONS, type Refusal } from "../domain/payment";
import { findPayment } from "../store/payments";
import { type SettleDeps, settlePayment } from "./settlePayment";

export interface FaucetDeps extends SettleDeps {
  /** Null without its key. */
  faucet: Faucet | null;
}

export interface WantedDeposit {
  orgId: string;
  toAddress: string;
  amountWon: Won;
  /** Null: each request is another deposit. */
  idempotencyKey: string | null;
  waitMs: number;
}

export interface SandboxDeposit {
  fromAddress: string;
  /** Null while nothing was sent. */
  txHash: string | null;
  replayed: boolean;
}

/** Longer than a chain stands still. An authorization that was not sent is signed anew. */
const LIFE_SECONDS = 3_600;

const REASON_OF: Record<string, string> = {
  [REASONS.balance]: "faucet_empty",
  [REASONS.gasLimit]: "gas_limit",
};

/**
 * Sends tokens of the faucet to a wallet, as an outside payer does by x402. The deposit is credited
 * as any other. Its nonce follows from the idempotency key, so a repetition moves nothing.
 */
export async function depositFromFaucet(deps: FaucetDeps, wanted: WantedDeposit): Promise<SandboxDeposit> {
  const { faucet, chain } = deps;
  if (!faucet) throw new DomainError("SBX_003", { reason: "no_faucet" });
  const { authorization, replayed } = await authorize(deps, faucet, wanted);
  const signature = faucet.sign(hashTransferAuthorization(chain, authorization));
  const payment = exactPayment(authorization, signature, chain);
  const { orgId, waitMs } = wanted;
  const { refusal, txHash } = await settlePayment(deps, { orgId, payment, waitMs });
  if (refusal && refusal.reason !== REASONS.pending) throw refusedDeposit(refusal);
  return { fromAddress: faucet.address, txHash, replayed };
}

/** A repetition has the same authorization unless the earlier one failed. */
async function authorize(
  { db, now }: FaucetDeps,
  { address: from }: Faucet,
  { orgId, toAddress: to, amountWon, idempotencyKey }: WantedDeposit,
): Promise<{ authorization: TransferAuthorization; replayed: boolean }> {
  const nonce = createHash("sha256")
    .update(JSON.stringify(["sandbox deposit", orgId, idempotencyKey ?? newId("req")]))
    .digest("hex");
  const units = amountWon * TOKEN_UNITS_PER_WON;
  const earlier = await findPayment(db, { orgId, from, nonce });
  if (earlier && (earlier.units !== units || !sameAddress(earlier.to, to))) throw new DomainError("REQ_003");
  const replayed = earlier !== undefined && earlier.state !== "FAILED";
  const validBefore = replayed ? earlier.validBefore : BigInt(Math.floor(now() / 1_000) + LIFE_SECONDS);
  return { authorization: { from, to, units, validAfter: 0n, validBefore, nonce }, replayed };
}

function refusedDeposit({ reason }: Refusal): DomainError {
  return new DomainError("SBX_003", { reason: REASON_OF[reason] ?? "refused_by_token" });
}
