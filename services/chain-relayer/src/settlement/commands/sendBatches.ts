import { type Database } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { type Log } from "@wonrail/kit/log";
import { appendEvents } from "@wonrail/kit/outbox";
import { encodeExecute, type Provider, type Signer } from "../../evm";
import { assertCanonical, type CanonicalDeps, findFurthestBlock, listPaymentManagers } from "../../indexer";
import { findGasBudget, type GasBudget, type Lease, submit } from "../../sender";
import { cheapGas, gasLimitFor, halvedGas, usualGasFor } from "../domain/gas";
import { operationsSubmitted } from "../events";
import { isHold, markInFlight, type Operation } from "../store/operations";
import {
  listPlannedOperations,
  postpone,
  postponeRefused,
  REFUSED_BY_CUSTODY,
} from "../store/plannedOperations";
import { authorizeBatch, type AuthorizeDeps, type Ready } from "./authorizeBatch";
import { dryRunRetries } from "./dryRunRetries";
import { selectMintable } from "./selectMintable";

export interface SendDeps extends AuthorizeDeps, CanonicalDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint; tokenAddress: string; paymentManagerAddress: string; network: string };
  /** Limit of steps per transaction. */
  maxSteps: number;
  feeCapWei: bigint;
}

const RETRY_FUNDS_MS = 5_000;
const RETRY_MANAGER_MS = 5_000;
/** Gas of the smallest transaction: one operation whose steps are all executed. */
const LEAST_GAS = usualGasFor([{ steps: 0, isHold: false }]);
/** Nodes refuse transactions of more than 128 KiB. */
const MOST_BYTES = 120_000;

/**
 * Sends planned operations in a limited number of transactions. Returns the number sent: 0 without
 * work or while it must wait. Custody signs the next batch while one is stored and sent.
 */
export async function sendBatches(
  deps: SendDeps,
  lease: Lease,
  { maxTransactions, signal }: { maxTransactions: number; signal: AbortSignal },
): Promise<number> {
  const { db, provider, chain, maxSteps } = deps;
  const listed = await listPlannedOperations(db, maxTransactions * maxSteps);
  if (listed.length === 0) return 0;
  // Another payment manager was adopted; this process will restart.
  if ((await listPaymentManagers(db)).at(-1) !== chain.paymentManagerAddress.toLowerCase()) {
    await postpone(db, listed, "payment_manager_replaced", RETRY_MANAGER_MS);
    return 0;
  }
  // On another branch nonce, time and price would differ.
  const furthest = await findFurthestBlock(db);
  if (furthest) await assertCanonical(deps, furthest);
  const latest = await provider.latestBlock();
  const planned = await selectMintable(deps, await dryRunRetries(deps, listed, latest), latest);
  if (planned.length === 0) return 0;
  const budget = await findGasBudget(deps, latest, LEAST_GAS);
  if ("reason" in budget) {
    await postpone(db, planned, budget.reason, budget.retryMs);
    return 0;
  }

  const batches = toBatches(planned, maxSteps).slice(0, maxTransactions);
  const authorize = async (batch: Operation[] | undefined) =>
    batch === undefined || signal.aborted ? null : authorizeBatch(deps, batch, latest.time);
  let sent = 0;
  await failpoint("relayer.r1");
  let coming = authorize(batches.shift());
  for (let authorized = await coming; authorized; authorized = await coming) {
    coming = authorize(batches.shift());
    // The error is thrown at its turn, or dropped if this batch fails.
    coming.catch(() => undefined);
    for (const [reason, operations] of authorized.refused) await postponeRefused(db, operations, reason);
    const payable = await selectPayable(deps, authorized.ready, budget);
    if (payable.length === 0) continue;
    const fitted = await sendOne(deps, lease, payable, budget);
    sent += 1;
    budget.payableGas -= fitted.gasLimit;
    // Operations without room go before everything behind them.
    if (fitted.ready.length < payable.length) break;
  }
  return sent;
}

/**
 * Batches in order, each with as many steps as one transaction carries, or a single larger
 * operation. Operations that custody refused before take no room, because most are refused again.
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

/** Returns the operations that the signer can pay for one by one. The others wait. */
async function selectPayable(
  { db }: SendDeps,
  ready: Ready[],
  { gasRoom, payableGas }: GasBudget,
): Promise<Ready[]> {
  const isTooDear = (one: Ready) => payableGas < gasRoom && gasFor([one]) > payableGas;
  const tooDear = ready.filter(isTooDear).map(({ operation }) => operation);
  if (tooDear.length > 0) await postpone(db, tooDear, "signer_out_of_gas", RETRY_FUNDS_MS);
  return ready.filter((one) => !isTooDear(one));
}

/** Sends the first operations, as many as one transaction may carry. */
async function sendOne(
  deps: SendDeps,
  lease: Lease,
  ready: Ready[],
  { fees, gasRoom, payableGas }: GasBudget,
): Promise<Fitted> {
  const mostGas = roomOf(ready, gasRoom);
  const fitted = fit(ready, payableGas < mostGas ? payableGas : mostGas);
  const operations = fitted.ready.map(({ operation }) => operation);
  const { chain } = deps;
  await submit(deps, lease, {
    to: chain.paymentManagerAddress,
    callData: fitted.data,
    gasLimit: fitted.gasLimit,
    fees,
    async onStored(tx, { transactionId, txHash }) {
      const changedAt = await markInFlight(tx, operations, transactionId, txHash);
      const submission = { network: chain.network, txHash, changedAt };
      await appendEvents(tx, operationsSubmitted(operations, submission));
    },
  });
  return fitted;
}

/**
 * Gas limit of a transaction. After nodes refused a cost: the need of its first operation. After a
 * revert: halved each time, down to its first operation, so that the cause is found without burning
 * the gas of full batches.
 */
function roomOf(ready: Ready[], gasRoom: bigint): bigint {
  const first = gasFor(ready.slice(0, 1));
  if (ready.some(({ operation }) => operation.waitReason === "cost_too_high"))
    return cheapGas(gasRoom, first);
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

/** The first operations that fit into one transaction. The rest stays planned for the next one. */
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

/** The gas of a batch by experience; after a revert, a bound that always holds. */
function gasFor(ready: Ready[]): bigint {
  const steps = ready.map(({ chainOperation }) => chainOperation.steps.length);
  if (ready.some(({ operation }) => hasReverted(operation))) return gasLimitFor(steps);
  return usualGasFor(
    ready.map(({ operation }, index) => ({ steps: steps[index]!, isHold: isHold(operation) })),
  );
}
