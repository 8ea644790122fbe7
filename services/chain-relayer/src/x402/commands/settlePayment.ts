import { setTimeout as sleep } from "node:timers/promises";
import { afterCommit, tx } from "@wonrail/kit/db";
import { RpcUnanswered } from "../../evm";
import { isRefusal, isSamePayment, REASONS, type Refusal, refusal } from "../domain/payment";
import { findUse, type UseDeps } from "../queries/findUse";
import { findPayment, insertPayment, reserveGas, type StoredPayment } from "../store/payments";
import { type Accepted, checkAcceptance, outageOf } from "./checkAcceptance";
import { type AskedPayment, keyOf, readForWallet } from "./readForWallet";
import { PAYMENT_GAS } from "./sendPayments";
import { type PaymentInput, type VerifyDeps } from "./verifyPayment";

export interface SettleDeps extends VerifyDeps {
  provider: VerifyDeps["provider"] & UseDeps["provider"];
  /** Gas for the payments of one organisation in a day. */
  x402GasPerDay: bigint;
  /** Called when a payment may be sent. */
  onPlanned: () => void;
}

export interface Settlement {
  /** Null when the money has moved. */
  refusal: Refusal | null;
  txHash: string | null;
}

const POLL_MS = 200;
/** The chain is asked about a mined payment this often. */
const ASK_MS = 1_000;

/**
 * Settles a payment once and waits for its block. The same payment again gets the hash of the
 * transaction that moved the money.
 */
export async function settlePayment(
  deps: SettleDeps,
  { waitMs, ...input }: PaymentInput & { waitMs: number },
): Promise<Settlement> {
  const endMs = deps.now() + waitMs;
  const asked = await readForWallet(deps, input);
  if (isRefusal(asked)) return refused(asked);
  const { authorization } = asked;
  const stored = await findPayment(deps.db, keyOf(asked));
  if (stored && !isSamePayment(stored, authorization) && stored.state !== "FAILED") return refused(ANOTHER);
  if (!stored || stored.state === "FAILED") {
    const ended = await planPayment(deps, asked);
    if (ended) return ended;
  }
  return waitForOutcome(deps, asked, endMs);
}

const ANOTHER = refusal("nonceUsed", "another authorization with this nonce was given to us for settlement");

/** Plans the payment. Returns the outcome if it cannot be sent. */
async function planPayment(deps: SettleDeps, asked: AskedPayment): Promise<Settlement | null> {
  const accepted = await checkAcceptance(deps, asked);
  if (!isRefusal(accepted)) return insertPlanned(deps, asked, accepted);
  // Read after the chain: the authorization may be used because another request was faster.
  const stored = await findPayment(deps.db, keyOf(asked));
  if (!stored || !isSamePayment(stored, asked.authorization)) return refused(accepted);
  if (stored.state !== "FAILED") return null;
  // A payment that failed here may have been made by a transaction of another account since.
  const use = accepted.reason === REASONS.nonceUsed ? await findUseOrOutage(deps, stored) : null;
  return use?.isPayment ? { refusal: null, txHash: use.txHash } : refused(accepted);
}

function findUseOrOutage(deps: SettleDeps, stored: StoredPayment) {
  return findUse(deps, stored).catch((error: unknown) => {
    throw outageOf(error);
  });
}

class GasLimitError extends Error {}

async function insertPlanned(
  { db, x402GasPerDay, onPlanned }: SettleDeps,
  { orgId, authorization }: AskedPayment,
  accepted: Accepted,
): Promise<Settlement | null> {
  try {
    await tx(db, async (tx) => {
      // If another request was faster, this one waits for the same outcome.
      if (!(await insertPayment(tx, { orgId, ...authorization, ...accepted, gas: PAYMENT_GAS }))) return;
      if (!(await reserveGas(tx, orgId, PAYMENT_GAS, x402GasPerDay))) throw new GasLimitError();
      afterCommit(tx, onPlanned);
    });
    return null;
  } catch (error) {
    if (!(error instanceof GasLimitError)) throw error;
    return refused(refusal("gasLimit", "the gas of your organisation for this day in UTC is used up"));
  }
}

async function waitForOutcome(deps: SettleDeps, asked: AskedPayment, endMs: number): Promise<Settlement> {
  for (;;) {
    const stored = (await findPayment(deps.db, keyOf(asked)))!;
    const outcome = await findOutcome(deps, stored, asked);
    if (outcome) return outcome;
    if (deps.now() >= endMs) {
      const waiting = refusal("pending", "the transaction is in no block yet: send the same request again");
      return { refusal: waiting, txHash: stored.txHash };
    }
    await sleep(stored.isMined ? ASK_MS : POLL_MS);
  }
}

/** Null while it is open. */
async function findOutcome(
  deps: SettleDeps,
  stored: StoredPayment,
  { authorization }: AskedPayment,
): Promise<Settlement | null> {
  if (!isSamePayment(stored, authorization)) return refused(ANOTHER);
  if (stored.state === "CONFIRMED") return { refusal: null, txHash: stored.txHash };
  if (stored.state === "FAILED")
    return refused({ reason: stored.reason!, message: messageOf(stored.reason!) });
  // A transaction of another account may have used the authorization before ours.
  if (!stored.isMined && stored.reason !== REASONS.nonceUsed) return null;
  const use = await findUse(deps, stored).catch((error: unknown) => {
    if (error instanceof RpcUnanswered) return null;
    throw error;
  });
  if (!use) return null;
  return use.isPayment ? { refusal: null, txHash: use.txHash } : refused(ANOTHER);
}

function messageOf(reason: string): string {
  if (reason === REASONS.nonceUsed) return "the authorization was used or cancelled by another transaction";
  if (reason === REASONS.failed) return "the token refused the transaction; no money has moved";
  return "the token would have refused the transaction, so it was not sent; no money has moved";
}

function refused(refusal: Refusal): Settlement {
  return { refusal, txHash: null };
}
