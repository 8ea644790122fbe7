import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { type Counter } from "@wonrail/kit/metrics";
import { type Provider, RpcRefusal, type SendOutcome, type Signer } from "../../evm";
import {
  type Fees,
  firstFees,
  isEnough,
  type Market,
  noopGas,
  replacementFees,
  withinCost,
} from "../domain/fees";
import {
  type Call,
  type ChainTransaction,
  replaceCallWithNoop,
  fence,
  findCall,
  findRaw,
  hashesOf,
  insertVersion,
  type Lease,
  listNonceGaps,
  listOpenTransactions,
  markTransaction,
  recordMined,
  raiseNextNonce,
  reopenTransactions,
  storeSigned,
  type Version,
} from "../store/transactions";
import { broadcast } from "./broadcast";

/**
 * By signer, the head at which all its open transactions were last looked up. Mined ones stay
 * mined while the head is the same, and receipts are large.
 */
export type HeadsSeen = Map<string, string>;

export interface WatchDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint; paymentManagerAddress: string };
  feeCapWei: bigint;
  resendAfterMs: number;
  replaceAfterMs: number;
  headsSeen: HeadsSeen;
  /** By transaction, the head at its last fee bump: without a new block no offer can be too low. */
  headsBumped: Map<bigint, string>;
  lost: Counter;
  onReleased: OnReleased;
}

/**
 * Reason why a transaction no longer carries its call. The call's owner decides on its
 * resubmission.
 */
export type ReleaseReason =
  | "nonce_taken"
  | "signer_changed"
  | "batch_reverted"
  | "fee_above_cap"
  | "cost_too_high";

/** Runs in the transaction that takes the call out of the stored transaction. */
export type OnReleased = (tx: Tx, transactionId: bigint, reason: ReleaseReason) => Promise<void>;

/**
 * Watches open transactions: resends missing ones, bumps the fees of stuck ones,
 * releases those whose nonce was used elsewhere, and fills nonce gaps.
 */
export async function watchTransactions(deps: WatchDeps, lease: Lease): Promise<void> {
  const { db, provider, signer, headsSeen, headsBumped } = deps;
  const open = await listOpenTransactions(db, signer.address);
  for (const id of headsBumped.keys())
    if (!open.some(({ transactionId }) => transactionId === id)) headsBumped.delete(id);
  if (open.length === 0) return;
  // Read before the receipts: if the head changes meanwhile, they are asked for again.
  const { hash } = await provider.latestBlock();
  const isSame = headsSeen.get(signer.address) === hash;
  const receipts = await provider.receipts(
    hashesOf(isSame ? open.filter(({ state }) => state !== "MINED") : open),
  );
  const isMined = ({ state, versions }: ChainTransaction) =>
    (isSame && state === "MINED") || versions.some(({ txHash }) => receipts.has(txHash));
  await note(db, open, isMined);
  headsSeen.set(signer.address, hash);
  const unmined = open.filter((transaction) => !isMined(transaction));
  if (unmined.length === 0) return;

  const latestNonce = await provider.nonce(signer.address, "latest");
  // The state of an older block, which not every node has, and which most rounds do not need.
  const finalNonce = unmined[0]!.nonce < latestNonce ? await findFinalNonce(deps) : 0n;
  await fillGaps(deps, lease, { first: unmined[0]!, chainNonce: latestNonce });
  for (const transaction of unmined) {
    if (transaction.nonce >= finalNonce) await advance(deps, lease, transaction, hash);
    else if (!(await isMinedAfterAll(provider, transaction))) await giveUp(deps, lease, transaction);
  }
}

async function findFinalNonce({ provider, signer }: WatchDeps): Promise<bigint> {
  const final = await provider.finalBlock();
  return final ? provider.nonce(signer.address, final.number) : 0n;
}

/** The transaction may have become final since its receipts were asked for. */
async function isMinedAfterAll(provider: Provider, transaction: ChainTransaction): Promise<boolean> {
  return (await provider.receipts(hashesOf([transaction]))).size > 0;
}

async function note(
  db: Database,
  open: ChainTransaction[],
  isMined: (of: ChainTransaction) => boolean,
): Promise<void> {
  const ids = (of: ChainTransaction[]) => of.map(({ transactionId }) => transactionId);
  const mined = open.filter((one) => one.state !== "MINED" && isMined(one));
  const dropped = open.filter((one) => one.state === "MINED" && !isMined(one));
  if (mined.length + dropped.length > 0) await recordMined(db, ids(mined), ids(dropped));
}

/**
 * The nonce is used in final blocks by another transaction, so this one can never be mined. Its
 * call is released.
 */
async function giveUp(
  { db, signer, lost, log, onReleased }: WatchDeps,
  lease: Lease,
  transaction: ChainTransaction,
): Promise<void> {
  const { transactionId, nonce } = transaction;
  const isLost = await tx(db, async (tx) => {
    await fence(tx, lease);
    if (!(await markTransaction(tx, transactionId, "LOST"))) return false;
    await onReleased(tx, transactionId, "nonce_taken");
    await raiseNextNonce(tx, signer.address, nonce + 1n);
    return true;
  });
  if (!isLost) return;
  lost.inc();
  log.warn({ nonce: nonce.toString() }, "another program used a nonce of the signer");
}

async function advance(
  deps: WatchDeps,
  lease: Lease,
  transaction: ChainTransaction,
  head: string,
): Promise<void> {
  const { resendAfterMs, replaceAfterMs, headsBumped } = deps;
  const { transactionId, sentAgoMs, state, versions } = transaction;
  // Nodes may drop a transaction after a reorganisation, so a MINED one does not wait. A send time
  // far in the future stems from before the database's clock was set back.
  const waits = state !== "MINED" && sentAgoMs !== null && Math.abs(sentAgoMs) <= resendAfterMs;
  if (waits) return;
  const resent = await resend(deps, transaction);
  const isOld = Math.abs(versions.at(-1)!.ageMs) > replaceAfterMs;
  const isStuck = isOld && headsBumped.get(transactionId) !== head;
  switch (resent.outcome) {
    case "unacceptable":
      return replaceWithNoop(deps, lease, transaction, "batch_reverted");
    case "no_funds":
      // Nodes accept it once the signer can pay; a higher fee would only delay that.
      return;
    case "underpriced":
    case "fee_too_low":
    case "cost_too_high":
      return bumpFees(deps, lease, transaction, resent);
    default:
      if (!isStuck) return;
      headsBumped.set(transactionId, head);
      await bumpFees(deps, lease, transaction, resent);
  }
}

interface Resent {
  /** Outcome of the newest version. */
  outcome: SendOutcome;
  /** The version that nodes have; null if none is known. */
  standing: Version | null;
}

/**
 * Resends the newest version. If nodes may have refused it, resends the newest version that they
 * accept.
 */
async function resend(deps: WatchDeps, { transactionId, versions }: ChainTransaction): Promise<Resent> {
  const newest = versions.at(-1)!;
  const outcomes: SendOutcome[] = [];
  for (const version of versions.toReversed()) {
    const { txHash } = version;
    const outcome = await broadcast(deps, { transactionId, raw: await findRaw(deps.db, txHash), txHash });
    outcomes.push(outcome);
    if (outcome === "sent" || outcome === "known") return { outcome: outcomes[0]!, standing: version };
    // These answers prove that nodes have the newest version.
    if (outcome === "underpriced" || outcome === "nonce_used")
      return { outcome: outcomes[0]!, standing: newest };
    // Each silent answer costs a timeout. At most one version follows one that nodes refused with
    // an unknown message.
    const isSilent = outcomes.length > 1 && outcomes.every((one) => one === "unclear");
    if (isSilent || outcome === "unacceptable" || outcome === "fee_too_low") break;
  }
  return { outcome: outcomes[0]!, standing: null };
}

/**
 * Uses the nonce up by an empty transaction; the call is released and goes again in smaller
 * transactions.
 */
async function replaceWithNoop(
  deps: WatchDeps,
  lease: Lease,
  transaction: ChainTransaction,
  reason: "batch_reverted" | "fee_above_cap" | "cost_too_high",
): Promise<void> {
  const { db, log, onReleased } = deps;
  const { transactionId } = transaction;
  const nothing = await noopOf(deps);
  await tx(db, async (tx) => {
    await fence(tx, lease);
    await onReleased(tx, transactionId, reason);
    await replaceCallWithNoop(tx, transactionId, nothing);
  });
  log.error(
    { nonce: transaction.nonce.toString(), reason },
    "no node takes a transaction as it is; its nonce is used up",
  );
  const market = await marketOf(deps);
  // If no node has the transaction, no old offer must be exceeded.
  const fees = replacementFees(transaction.versions.at(-1)!, market) ?? firstFees(market);
  if (fees) await sendVersion(deps, lease, transaction, { ...nothing, ...fees });
}

/**
 * Sends the same nonce and call with higher fees, up to the cap; above it the transaction waits. A
 * transaction that the market refuses, or that is too large for its price, is replaced with a
 * no-op.
 */
async function bumpFees(
  deps: WatchDeps,
  lease: Lease,
  transaction: ChainTransaction,
  { outcome, standing }: Resent,
): Promise<void> {
  const last = transaction.versions.at(-1)!;
  const market = await marketOf(deps);
  const call = await findCall(deps.db, transaction.transactionId);
  if (call.callData.length === 0) {
    // A no-op repeats its own offer, whatever nodes answered to its predecessor.
    const isNobodys = outcome === "cost_too_high" && standing === null;
    const fees = replacementFees(last, market) ?? (isNobodys ? firstFees(market) : null);
    return fees ? sendVersion(deps, lease, transaction, { ...call, ...fees }) : undefined;
  }
  const isTooDear = outcome === "cost_too_high" || (standing !== null && standing !== last);
  const fees = isTooDear ? null : replacementFees(last, withinCost(market, call.gasLimit));
  if (fees) return sendVersion(deps, lease, transaction, { ...call, ...fees });

  const perhaps = outcome === "unclear" ? last : null;
  const offer = standing ?? perhaps;
  if (offer && isEnough(offer, market)) return;
  const isNobodys = isTooDear && standing === null;
  if (isNobodys ? firstFees(market) : replacementFees(last, market))
    await replaceWithNoop(
      deps,
      lease,
      transaction,
      outcome === "cost_too_high" ? "cost_too_high" : "fee_above_cap",
    );
}

/** An empty call to the signer itself, with the nodes' gas estimate. */
async function noopOf({ provider, signer }: WatchDeps): Promise<Call> {
  const { address } = signer;
  const estimate = await provider.estimateGas(address, address).catch((error: unknown) => {
    if (error instanceof RpcRefusal) return 0n;
    throw error;
  });
  return { to: address, callData: Buffer.alloc(0), gasLimit: noopGas(estimate) };
}

async function marketOf({ provider, feeCapWei }: WatchDeps): Promise<Market> {
  const [{ baseFeeWei }, tipWei] = await Promise.all([provider.latestBlock(), provider.priorityFeeWei()]);
  return { baseFeeWei, tipWei, capWei: feeCapWei };
}

async function sendVersion(
  deps: WatchDeps,
  lease: Lease,
  { nonce, transactionId }: ChainTransaction,
  { to, callData, gasLimit, ...fees }: Call & Fees,
): Promise<void> {
  const { db, signer, chain } = deps;
  const signed = signer.sign({ chainId: chain.chainId, nonce, to, data: callData, gasLimit, ...fees });
  await tx(db, async (tx) => {
    await fence(tx, lease);
    await insertVersion(tx, transactionId, { ...signed, ...fees });
  });
  await broadcast(deps, { transactionId, ...signed });
}

/**
 * Fills nonces that a reorganisation has freed: everything behind such a nonce would wait for
 * ever.
 */
async function fillGaps(
  deps: WatchDeps,
  lease: Lease,
  { first, chainNonce }: { first: ChainTransaction; chainNonce: bigint },
): Promise<void> {
  const { db, signer, chain, log } = deps;
  if (first.nonce <= chainNonce) return;
  await tx(db, async (tx) => {
    await fence(tx, lease);
    await reopenTransactions(tx, signer.address, chainNonce);
  });
  for (const nonce of await listNonceGaps(db, signer.address, chainNonce)) {
    const fees = firstFees(await marketOf(deps));
    if (!fees) return;
    const call = await noopOf(deps);
    const signed = signer.sign({ chainId: chain.chainId, nonce, data: call.callData, ...call, ...fees });
    const transactionId = await tx(db, async (tx) => {
      await fence(tx, lease);
      const version = { ...signed, ...fees };
      return storeSigned(tx, { ...call, nonce, signer: signer.address, epoch: lease.epoch, version });
    });
    log.warn({ nonce: nonce.toString() }, "filled a gap in the signer's nonces");
    await broadcast(deps, { transactionId, ...signed });
  }
}
