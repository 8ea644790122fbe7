import { type Database, tx } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { type Block, encodeTransferWithAuthorization, type Provider, type Signer } from "../../evm";
import { assertCanonical, type CanonicalDeps, findFurthestBlock } from "../../indexer";
import { countPendingTransactions, findGasBudget, type GasBudget, type Lease, submit } from "../../sender";
import { checkTimes, REASONS } from "../domain/payment";
import { findTokenStates } from "../queries/findTokenStates";
import {
  countUnminedPayments,
  failPlannedPayment,
  listPlannedPayments,
  markPaymentInFlight,
  type PlannedPayment,
  postponePayment,
} from "../store/payments";

export interface SendDeps extends CanonicalDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint; tokenAddress: string };
  feeCapWei: bigint;
  /** Most unmined transactions of the signer. Payments take at most half of them. */
  maxInFlight: number;
  now: () => number;
}

/**
 * Gas limit of one payment: some 86,000 for a key's payment to a new address, and room for a
 * contract that checks its own signature.
 */
export const PAYMENT_GAS = 200_000n;

const RETRY_MS = 1_000;
/** The scan of final blocks decides about these. */
const RETRY_USED_MS = 5_000;

/**
 * Sends planned payments, each in a transaction of its own. A payment that the token would refuse
 * now is not sent.
 */
export async function sendPayments(deps: SendDeps, lease: Lease, signal: AbortSignal): Promise<void> {
  const { db, provider } = deps;
  const planned = await listPlannedPayments(db, Math.ceil(deps.maxInFlight / 2));
  if (planned.length === 0) return;
  // On another branch the token's state would differ.
  const furthest = await findFurthestBlock(db);
  if (furthest) await assertCanonical(deps, furthest);
  const latest = await provider.latestBlock();
  const sendable = await selectSendable(deps, planned, latest);
  if (sendable.length === 0) return;
  const budget = await findGasBudget(deps, latest, PAYMENT_GAS);
  if ("reason" in budget) {
    for (const payment of sendable) await postponePayment(db, payment, budget.reason, budget.retryMs);
    return;
  }
  const room = Math.min(await findRoom(deps), Number(budget.payableGas / PAYMENT_GAS));
  for (const payment of sendable.slice(0, Math.max(room, 0)))
    if (!signal.aborted) await sendPayment(deps, lease, payment, budget);
}

/** How many payments may be sent now. */
async function findRoom({ db, signer, maxInFlight }: SendDeps): Promise<number> {
  const ofAll = maxInFlight - (await countPendingTransactions(db, signer.address));
  const ofPayments = Math.ceil(maxInFlight / 2) - (await countUnminedPayments(db));
  return Math.min(ofAll, ofPayments);
}

/** Ends the payments that the token refuses. Payments that wait for others come again. */
async function selectSendable(
  deps: SendDeps,
  planned: PlannedPayment[],
  latest: Block,
): Promise<PlannedPayment[]> {
  const states = await findTokenStates(deps, planned, latest);
  const sendable: PlannedPayment[] = [];
  const spent = new Map<string, bigint>();
  for (const [index, payment] of planned.entries()) {
    const { balance, ...state } = states[index]!;
    const refusal = state.refusal ?? checkTimes(payment, nextTime(deps, latest));
    const spending = (spent.get(payment.from) ?? payment.unminedUnits) + payment.units;
    if (refusal?.reason === REASONS.nonceUsed)
      await postponePayment(deps.db, payment, refusal.reason, RETRY_USED_MS);
    else if (refusal) await tx(deps.db, (tx) => failPlannedPayment(tx, payment, refusal.reason));
    // The payer's earlier payments may take the money.
    else if (spending > balance)
      await postponePayment(deps.db, payment, "earlier_payments_unmined", RETRY_MS);
    else {
      spent.set(payment.from, spending);
      sendable.push(payment);
    }
  }
  return sendable;
}

/** The time of the next block: a chain that mines on demand has no block of now. */
function nextTime({ now }: SendDeps, { time }: Block): bigint {
  const nowSeconds = BigInt(Math.floor(now() / 1000));
  return nowSeconds > time ? nowSeconds : time;
}

async function sendPayment(
  deps: SendDeps,
  lease: Lease,
  payment: PlannedPayment,
  { fees }: GasBudget,
): Promise<void> {
  await submit(deps, lease, {
    to: deps.chain.tokenAddress,
    callData: encodeTransferWithAuthorization(payment, payment.signature),
    gasLimit: PAYMENT_GAS,
    fees,
    async onStored(tx, { transactionId, txHash }) {
      if (!(await markPaymentInFlight(tx, payment, transactionId, txHash)))
        throw new Error("a payment was used by another transaction before it was sent");
    },
  });
}
