import { type Database, tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { type Log } from "@wonrail/kit/log";
import { appendEvents } from "@wonrail/kit/outbox";
import { encodeExecute } from "../chain/contracts";
import { type Block, type Provider } from "../chain/provider";
import { type Signer } from "../chain/signer";
import { type Fees, firstFees, gasLimitFor, mostGas, usualGasFor } from "../domain/fees";
import { operationSubmitted } from "../events";
import { listPlannedOperations, markInFlight, type Operation, putBack } from "../store/operations";
import { fence, type Lease, setNextNonce, storeSigned } from "../store/transactions";
import { authorizeBatch, type AuthorizeDeps, type Ready } from "./authorize";
import { broadcast } from "./broadcast";

export interface SendDeps extends AuthorizeDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint; tokenAddress: string; paymentManagerAddress: string; network: string };
  /** How many steps one transaction carries at most. */
  maxSteps: number;
  feeCapWei: bigint;
}

const RETRY_REFUSED_MS = 5_000;
const RETRY_FEES_MS = 3_000;
const RETRY_FUNDS_MS = 5_000;
/** Nodes do not take transactions of more than 128 KiB. */
const MOST_BYTES = 120_000;

/** Sends what is planned next as one transaction. False when there is nothing to send, or it has to wait. */
export async function sendBatch(deps: SendDeps, lease: Lease): Promise<boolean> {
  const { db, provider, maxSteps } = deps;
  const batch = takeSteps(await listPlannedOperations(db, maxSteps), maxSteps);
  if (batch.length === 0) return false;
  const latest = await provider.latestBlock();
  const fees = await affordableFees(deps, batch, latest);
  if (!fees) return false;

  await failpoint("relayer.r1");
  const { ready, refused } = await authorizeBatch(deps, batch, latest.time);
  for (const [reason, operations] of refused) await putBack(db, operations, reason, RETRY_REFUSED_MS);
  if (ready.length === 0) return false;

  const stored = await storeTransaction(deps, lease, fit(ready, latest), fees);
  await failpoint("relayer.r2");
  await broadcast(deps, stored);
  return true;
}

function takeSteps(operations: Operation[], maxSteps: number): Operation[] {
  let steps = 0;
  return operations.filter(
    (operation, index) => (steps += operation.steps.length) <= maxSteps || index === 0,
  );
}

/** Null, with the reason on every operation, while the chain is too dear or the signer is out of gas. */
async function affordableFees(
  { db, provider, signer, feeCapWei }: SendDeps,
  batch: Operation[],
  { baseFeeWei, gasLimit }: Block,
): Promise<Fees | null> {
  const [tipWei, balance] = await Promise.all([provider.priorityFeeWei(), provider.balance(signer.address)]);
  const fees = firstFees({ baseFeeWei, tipWei, capWei: feeCapWei });
  if (!fees) {
    await putBack(db, batch, "fee_above_cap", RETRY_FEES_MS);
    return null;
  }
  if (balance < fees.maxFeeWei * mostGas(gasLimit)) {
    await putBack(db, batch, "signer_out_of_gas", RETRY_FUNDS_MS);
    return null;
  }
  return fees;
}

interface Fitted {
  ready: Ready[];
  data: string;
  gasLimit: bigint;
}

/** As much of it, from its start, as one transaction may carry. The rest stays planned and goes with the next one. */
function fit(all: Ready[], latest: Block): Fitted {
  const most = mostGas(latest.gasLimit);
  for (let count = all.length; ; count = Math.ceil(count / 2)) {
    const ready = all.slice(0, count);
    const data = encodeExecute(ready.map(({ chainOperation }) => chainOperation));
    const small = data.length / 2 <= MOST_BYTES || count === 1;
    const gasLimit = small ? gasFor(ready) : most + 1n;
    if (gasLimit <= most) return { ready, data, gasLimit };
    if (count === 1) return { ready, data, gasLimit: most };
  }
}

/** What such batches take by experience; a bound that always holds, once that was too little. */
function gasFor(ready: Ready[]): bigint {
  const steps = ready.map(({ chainOperation }) => chainOperation.steps.length);
  if (ready.some(({ operation }) => operation.waitReason === "batch_reverted")) return gasLimitFor(steps);
  return usualGasFor(
    ready.map(({ operation }, index) => ({ steps: steps[index]!, isHold: operation.expiresAt !== null })),
  );
}

/** R2: the nonce, the signed bytes and the operations they carry become durable together, before anything is sent. */
async function storeTransaction(
  { db, provider, signer, chain }: SendDeps,
  lease: Lease,
  { ready, data, gasLimit }: Fitted,
  fees: Fees,
) {
  const chainNonce = await provider.nonce(signer.address, "latest");
  const operations = ready.map(({ operation }) => operation);
  return tx(db, async (tx) => {
    const { nextNonce } = await fence(tx, lease);
    // The signer's key may have been used from outside: its own count is then ahead of ours.
    const nonce = nextNonce > chainNonce ? nextNonce : chainNonce;
    const to = chain.paymentManagerAddress;
    const { raw, txHash } = signer.sign({ chainId: chain.chainId, nonce, to, data, gasLimit, ...fees });
    await setNextNonce(tx, signer.address, nonce + 1n);
    const transactionId = await storeSigned(tx, {
      ...{ signer: signer.address, nonce, epoch: lease.epoch, to, gasLimit },
      callData: Buffer.from(data.slice(2), "hex"),
      version: { txHash, raw, ...fees },
    });
    await markInFlight(tx, operations, transactionId, txHash);
    await appendEvents(
      tx,
      operations.map((operation) => operationSubmitted(operation, chain.network, txHash)),
    );
    return { transactionId, raw, txHash };
  });
}
