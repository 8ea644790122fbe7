import { type Database, tx } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { wonToTokenUnits } from "@wonrail/kit/money";
import { appendEvents } from "@wonrail/kit/outbox";
import { failpoint } from "@wonrail/kit/failpoint";
import { type ChainOperation, type ChainStep, encodeExecute } from "../chain/contracts";
import { type Provider } from "../chain/provider";
import { type Signer } from "../chain/signer";
import { type Fees, firstFees, gasLimitFor } from "../domain/fees";
import { operationSubmitted } from "../events";
import { listPlannedOperations, markInFlight, type Operation, putBack } from "../store/operations";
import { fence, insertTransaction, insertVersion, type Lease, setNextNonce } from "../store/transactions";
import { authorize } from "./authorize";
import { learnAddresses, type WalletClient } from "./learnAddresses";
import { broadcast } from "./broadcast";

export interface SendDeps {
  db: Database;
  log: Log;
  wallet: WalletClient;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint; tokenAddress: string; paymentManagerAddress: string; network: string };
  /** How many steps one transaction carries at most. */
  maxSteps: number;
  feeCapWei: bigint;
  authorizationLifeSeconds: bigint;
}

const RETRY_REFUSED_MS = 5_000;
const RETRY_FEES_MS = 3_000;
const RETRY_FUNDS_MS = 10_000;

/** Sends what is planned next as one transaction. False when there is nothing to send, or it has to wait. */
export async function sendBatch(deps: SendDeps, lease: Lease): Promise<boolean> {
  const batch = takeSteps(await listPlannedOperations(deps.db, deps.maxSteps), deps.maxSteps);
  if (batch.length === 0) return false;
  const fees = await affordableFees(deps, batch);
  if (!fees) return false;

  await failpoint("relayer.r1");
  const { ready, refused } = await authorizeBatch(deps, batch);
  for (const [reason, operations] of refused) await putBack(deps.db, operations, reason, RETRY_REFUSED_MS);
  if (ready.length === 0) return false;

  const stored = await storeTransaction(deps, lease, ready, fees);
  await failpoint("relayer.r2");
  await broadcast(deps, stored);
  return true;
}

interface Ready {
  operation: Operation;
  chainOperation: ChainOperation;
}

function takeSteps(operations: Operation[], maxSteps: number): Operation[] {
  let steps = 0;
  return operations.filter((operation) => (steps += operation.steps.length) <= maxSteps);
}

/** Null, with the reason on every operation, while the chain is too dear or the signer is out of gas. */
async function affordableFees(
  { db, provider, signer, feeCapWei }: SendDeps,
  batch: Operation[],
): Promise<Fees | null> {
  const [latest, tip, balance] = await Promise.all([
    provider.latestBlock(),
    provider.priorityFeeWei(),
    provider.balance(signer.address),
  ]);
  const fees = firstFees({ baseFeeWei: latest.baseFeeWei, tipWei: tip, capWei: feeCapWei });
  if (!fees) {
    await putBack(db, batch, "fee_above_cap", RETRY_FEES_MS);
    return null;
  }
  if (balance < fees.maxFeeWei * gasLimitFor(batch.map((operation) => operation.steps.length))) {
    await putBack(db, batch, "signer_out_of_gas", RETRY_FUNDS_MS);
    return null;
  }
  return fees;
}

async function authorizeBatch(
  deps: SendDeps,
  batch: Operation[],
): Promise<{ ready: Ready[]; refused: Map<string, Operation[]> }> {
  const addresses = await learnAddresses(deps, batch);
  const latest = await deps.provider.latestBlock();
  const outcomes = await authorize(deps, batch, addresses, latest.time);
  const ready: Ready[] = [];
  const refused = new Map<string, Operation[]>();
  for (const { operation, validBefore, signatures, reason } of outcomes) {
    if (reason !== null) {
      refused.set(reason, [...(refused.get(reason) ?? []), operation]);
      continue;
    }
    const steps = operation.steps.map((step, index): ChainStep => ({
      kind: step.kind,
      from: step.fromWalletId === null ? "" : addresses.get(step.fromWalletId)!,
      to: step.toAddress ?? (step.toWalletId === null ? "" : addresses.get(step.toWalletId)!),
      units: wonToTokenUnits(step.amountWon),
      validBefore,
      nonce: step.nonce,
      signature: signatures[index]!,
    }));
    ready.push({ operation, chainOperation: { operationId: operation.operationId, steps } });
  }
  return { ready, refused };
}

/** R2: the nonce, the signed bytes and the operations they carry become durable together, before anything is sent. */
async function storeTransaction(deps: SendDeps, lease: Lease, ready: Ready[], fees: Fees) {
  const { db, provider, signer, chain } = deps;
  const data = encodeExecute(ready.map(({ chainOperation }) => chainOperation));
  const gasLimit = await gasFor(deps, data, ready);
  const chainNonce = await provider.nonce(signer.address, "latest");
  const operations = ready.map(({ operation }) => operation);
  return tx(db, async (tx) => {
    const { nextNonce } = await fence(tx, lease);
    // The signer's key may have been used from outside: its own count is then ahead of ours.
    const nonce = nextNonce > chainNonce ? nextNonce : chainNonce;
    const { raw, txHash } = signer.sign({
      chainId: chain.chainId,
      nonce,
      to: chain.paymentManagerAddress,
      data,
      gasLimit,
      ...fees,
    });
    await setNextNonce(tx, signer.address, nonce + 1n);
    const callData = Buffer.from(data.slice(2), "hex");
    const transactionId = await insertTransaction(tx, {
      signer: signer.address,
      nonce,
      epoch: lease.epoch,
      callData,
      gasLimit,
    });
    await insertVersion(tx, transactionId, { txHash, raw, ...fees });
    await markInFlight(tx, operations, transactionId, txHash);
    await appendEvents(
      tx,
      operations.map((operation) => operationSubmitted(operation, chain.network, txHash)),
    );
    return { transactionId, raw, txHash };
  });
}

/** What the node says it takes, and the reserve that the contract wants to see; by rule of thumb when the node cannot say. */
async function gasFor({ provider, signer, chain }: SendDeps, data: string, ready: Ready[]): Promise<bigint> {
  const steps = ready.map(({ operation }) => operation.steps.length);
  try {
    const estimate = await provider.estimateGas({
      from: signer.address,
      to: chain.paymentManagerAddress,
      data,
    });
    return (estimate * 11n) / 10n + 300_000n;
  } catch {
    return gasLimitFor(steps);
  }
}
