import { type Database, tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { type Log } from "@wonrail/kit/log";
import { appendEvents } from "@wonrail/kit/outbox";
import { encodeExecute } from "../../evm/contracts";
import { type Block, type Provider } from "../../evm/provider";
import { RpcUnclear } from "../../evm/rpc";
import { type Signer } from "../../evm/signer";
import {
  cheapGas,
  type Fees,
  firstFees,
  gasLimitFor,
  gasRoom,
  halvedGas,
  usualGasFor,
} from "../../sender/domain/fees";
import { operationSubmitted } from "../../events";
import { COST_TOO_HIGH, markInFlight, type Operation } from "../store/operations";
import { listPaymentManagers } from "../../indexer/store/paymentManagers";
import {
  listPlannedOperations,
  postpone,
  postponeRefused,
  REFUSED_BY_CUSTODY,
} from "../store/plannedOperations";
import { fence, type Lease, setNextNonce, storeSigned, sumOpenCosts } from "../../sender/store/transactions";
import { findFurthest } from "../../indexer/store/scanCursor";
import { assertCanonical, type CanonicalDeps } from "../../indexer/commands/assertCanonical";
import { authorizeBatch, type AuthorizeDeps, type Ready } from "./authorizeBatch";
import { broadcast } from "../../sender/commands/broadcast";
import { findChainNonce } from "../../sender/commands/findChainNonce";
import { leaveRefused } from "./dryRunRetries";

export interface SendDeps extends AuthorizeDeps, CanonicalDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint; tokenAddress: string; paymentManagerAddress: string; network: string };
  /** How many steps one transaction carries at most. */
  maxSteps: number;
  feeCapWei: bigint;
}

const RETRY_FEES_MS = 3_000;
const RETRY_FUNDS_MS = 5_000;
const RETRY_MANAGER_MS = 5_000;
const RETRY_NONCE_MS = 5_000;
const NONCE_UNCLEAR =
  "the newest block's nonce of the signer is far ahead of ours and of the final block's: nothing is sent";
/** No transaction asks for less: one operation of which others have done every step. */
const LEAST_GAS = usualGasFor([{ steps: 0, isHold: false }]);
/** Nodes do not take transactions of more than 128 KiB. */
const MOST_BYTES = 120_000;

/**
 * Sends what is planned next, as at most so many transactions, and answers how many went out: none when there is nothing to send, or it has to wait.
 * Custody signs for the next one while one is stored and sent.
 */
export async function sendBatches(
  deps: SendDeps,
  lease: Lease,
  { maxTransactions, signal }: { maxTransactions: number; signal: AbortSignal },
): Promise<number> {
  const { db, provider, chain, maxSteps } = deps;
  const listed = await listPlannedOperations(db, maxTransactions * maxSteps);
  if (listed.length === 0) return 0;
  // Another one was taken into use, and this process will soon be told or end.
  if ((await listPaymentManagers(db)).at(-1) !== chain.paymentManagerAddress.toLowerCase()) {
    await postpone(db, listed, "payment_manager_replaced", RETRY_MANAGER_MS);
    return 0;
  }
  // Elsewhere everything is another: the nonce that goes next, the time, the price.
  const furthest = await findFurthest(db);
  if (furthest) await assertCanonical(deps, furthest);
  const latest = await provider.latestBlock();
  const planned = await leaveRefused(deps, listed, latest);
  if (planned.length === 0) return 0;
  const means = await findMeans(deps, planned, latest);
  if (!means) return 0;

  const batches = toBatches(planned, maxSteps).slice(0, maxTransactions);
  const authorize = async (batch: Operation[] | undefined) =>
    batch === undefined || signal.aborted ? null : authorizeBatch(deps, batch, latest.time);
  let sent = 0;
  await failpoint("relayer.r1");
  let coming = authorize(batches.shift());
  for (let authorized = await coming; authorized; authorized = await coming) {
    coming = authorize(batches.shift());
    // Whatever comes of it is seen when its turn comes, or not at all when this one fails.
    coming.catch(() => undefined);
    for (const [reason, operations] of authorized.refused) await postponeRefused(db, operations, reason);
    const payable = await leaveTooDear(deps, authorized.ready, means);
    if (payable.length === 0) continue;
    const fitted = await sendOne(deps, lease, payable, means);
    sent += 1;
    means.payableGas -= fitted.gasLimit;
    // What had no room goes before everything behind it.
    if (fitted.ready.length < payable.length) break;
  }
  return sent;
}

/**
 * In their order, each of as many steps as one transaction carries, or of one operation that has more. Those that custody has refused before take no
 * room: most are refused again, and leave none of a transaction empty.
 */
function toBatches(operations: Operation[], maxSteps: number): Operation[][] {
  const batches: Operation[][] = [];
  let room = 0;
  for (const operation of operations) {
    const isRefused = operation.waitReason?.startsWith(REFUSED_BY_CUSTODY) ?? false;
    const steps = isRefused ? 0 : operation.steps.length;
    room -= steps;
    if (batches.length > 0 && room >= 0) batches.at(-1)!.push(operation);
    else {
      batches.push([operation]);
      room = maxSteps - steps;
    }
  }
  return batches;
}

/** What is offered for gas, how much of it a transaction may ask for, and how much the signer can pay for. */
interface Means {
  fees: Fees;
  gasRoom: bigint;
  payableGas: bigint;
}

/**
 * Null, with the reason on every operation, while the chain is too dear, the signer is out of gas, or nobody knows how far its nonces are. Usual nodes take a transaction only when its sender
 * can pay for it beside all others that are not mined yet, each at its dearest.
 */
async function findMeans(
  deps: SendDeps,
  planned: Operation[],
  { baseFeeWei, gasLimit }: Block,
): Promise<Means | null> {
  const { db, log, provider, signer, feeCapWei } = deps;
  const [tipWei, balance, chainNonce] = await Promise.all([
    provider.priorityFeeWei(),
    provider.balance(signer.address),
    findChainNonce(deps),
  ]);
  if (chainNonce === null) {
    log.error({ signer: signer.address }, NONCE_UNCLEAR);
    await postpone(db, planned, "nonce_unclear", RETRY_NONCE_MS);
    return null;
  }
  const fees = firstFees({ baseFeeWei, tipWei, capWei: feeCapWei });
  if (!fees) {
    await postpone(db, planned, "fee_above_cap", RETRY_FEES_MS);
    return null;
  }
  const payableGas = (balance - (await sumOpenCosts(db, signer.address, chainNonce))) / fees.maxFeeWei;
  if (payableGas < LEAST_GAS) {
    await postpone(db, planned, "signer_out_of_gas", RETRY_FUNDS_MS);
    return null;
  }
  return { fees, gasRoom: gasRoom(gasLimit, fees), payableGas };
}

/** Answers those for which the signer can pay, each by itself. The others wait. */
async function leaveTooDear(
  { db }: SendDeps,
  ready: Ready[],
  { gasRoom, payableGas }: Means,
): Promise<Ready[]> {
  const isTooDear = (one: Ready) => payableGas < gasRoom && gasFor([one]) > payableGas;
  const tooDear = ready.filter(isTooDear).map(({ operation }) => operation);
  if (tooDear.length > 0) await postpone(db, tooDear, "signer_out_of_gas", RETRY_FUNDS_MS);
  return ready.filter((one) => !isTooDear(one));
}

/** As much of it, from its start, as one transaction may carry. */
async function sendOne(
  deps: SendDeps,
  lease: Lease,
  ready: Ready[],
  { fees, gasRoom, payableGas }: Means,
): Promise<Fitted> {
  const mostGas = roomOf(ready, gasRoom);
  const fitted = fit(ready, payableGas < mostGas ? payableGas : mostGas);
  const stored = await storeTransaction(deps, lease, fitted, fees);
  await failpoint("relayer.r2");
  await broadcast(deps, stored);
  return fitted;
}

/**
 * After nodes have refused what such a transaction may cost, no more than its first operation is sure to need. What has reverted goes in half as large a
 * transaction each time, down to its first operation: so that it is found which of them it was, and no full one burns its gas again and again.
 */
function roomOf(ready: Ready[], gasRoom: bigint): bigint {
  const first = gasFor(ready.slice(0, 1));
  if (ready.some(({ operation }) => operation.waitReason === COST_TOO_HIGH)) return cheapGas(gasRoom, first);
  const tries = ready.map(({ operation }) => (hasReverted(operation) ? operation.attempts : 0));
  return halvedGas(gasRoom, first, Math.max(0, ...tries));
}

function hasReverted({ waitReason }: Operation): boolean {
  return waitReason === "batch_reverted";
}

interface Fitted {
  ready: Ready[];
  data: Buffer;
  gasLimit: bigint;
}

/** As much of it, from its start, as one transaction may carry. The rest stays planned and goes with the next one. */
function fit(all: Ready[], mostGas: bigint): Fitted {
  for (let count = all.length; ; count = Math.ceil(count / 2)) {
    const ready = all.slice(0, count);
    const data = encodeExecute(ready.map(({ chainOperation }) => chainOperation));
    const small = data.length <= MOST_BYTES || count === 1;
    const gasLimit = small ? gasFor(ready) : mostGas + 1n;
    if (gasLimit <= mostGas) return { ready, data, gasLimit };
    if (count === 1) return { ready, data, gasLimit: mostGas };
  }
}

/** What such batches take by experience; a bound that always holds, once that was too little. */
function gasFor(ready: Ready[]): bigint {
  const steps = ready.map(({ chainOperation }) => chainOperation.steps.length);
  if (ready.some(({ operation }) => hasReverted(operation))) return gasLimitFor(steps);
  return usualGasFor(
    ready.map(({ operation }, index) => ({ steps: steps[index]!, isHold: operation.expiresAt !== null })),
  );
}

/** R2: the nonce, the signed bytes and the operations they carry become durable together, before anything is sent. */
async function storeTransaction(deps: SendDeps, lease: Lease, { ready, data, gasLimit }: Fitted, fees: Fees) {
  const { db, signer, chain } = deps;
  const chainNonce = await findChainNonce(deps);
  if (chainNonce === null) throw new RpcUnclear(NONCE_UNCLEAR);
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
      callData: data,
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
