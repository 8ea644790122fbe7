import { type Database, tx } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { type Counter } from "@wonrail/kit/metrics";
import { type Provider } from "../chain/provider";
import { type Signer } from "../chain/signer";
import { replacementFees } from "../domain/fees";
import { listInFlightOf, putBack } from "../store/operations";
import {
  type ChainTransaction,
  fence,
  insertVersion,
  type Lease,
  listOpenTransactions,
  markTransaction,
  raiseNextNonce,
} from "../store/transactions";
import { broadcast } from "./broadcast";

export interface WatchDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { chainId: bigint; paymentManagerAddress: string };
  feeCapWei: bigint;
  resendAfterMs: number;
  replaceAfterMs: number;
  now: () => number;
  lost: Counter;
}

const RETRY_LOST_MS = 1_000;

/** Looks after what is under way: sends it again when no node has it, outbids it when it is stuck, and notices when its nonce went elsewhere. */
export async function watchTransactions(deps: WatchDeps, lease: Lease): Promise<void> {
  const { db, provider, signer } = deps;
  const open = await listOpenTransactions(db, signer.address);
  if (open.length === 0) return;
  const final = await provider.finalBlock();
  const finalNonce = final ? await provider.nonce(signer.address, final.number) : 0n;
  for (const transaction of open) {
    if (await minedVersion(provider, transaction)) continue;
    if (transaction.nonce < finalNonce) await giveUp(deps, lease, transaction);
    else await push(deps, lease, transaction);
  }
}

async function minedVersion(provider: Provider, { versions }: ChainTransaction): Promise<boolean> {
  for (const { txHash } of versions) {
    if (await provider.receipt(txHash)) return true;
  }
  return false;
}

/** In final blocks its nonce is used, and by none of its versions: it can never be mined. Its operations go again, under their own names. */
async function giveUp(
  { db, signer, lost, log }: WatchDeps,
  lease: Lease,
  transaction: ChainTransaction,
): Promise<void> {
  const { transactionId, nonce } = transaction;
  await tx(db, async (tx) => {
    await fence(tx, lease);
    if (!(await markTransaction(tx, transactionId, "LOST"))) return;
    await putBack(tx, await listInFlightOf(tx, transactionId), "nonce_taken", RETRY_LOST_MS);
    await raiseNextNonce(tx, signer.address, nonce + 1n);
  });
  lost.inc();
  log.warn({ nonce: nonce.toString() }, "the signer's nonce was used from outside");
}

async function push(deps: WatchDeps, lease: Lease, transaction: ChainTransaction): Promise<void> {
  const { now, resendAfterMs, replaceAfterMs } = deps;
  const last = transaction.versions.at(-1)!;
  const { transactionId } = transaction;
  if (transaction.sentAt === null || now() - transaction.sentAt.getTime() > resendAfterMs) {
    const outcome = await broadcast(deps, { transactionId, raw: last.raw, txHash: last.txHash });
    if (
      outcome !== "underpriced" &&
      outcome !== "fee_too_low" &&
      now() - last.createdAt.getTime() <= replaceAfterMs
    )
      return;
    await outbid(deps, lease, transaction);
  }
}

async function outbid(deps: WatchDeps, lease: Lease, transaction: ChainTransaction): Promise<void> {
  const { db, provider, signer, chain, feeCapWei } = deps;
  const { baseFeeWei } = await provider.latestBlock();
  const fees = replacementFees(transaction.versions.at(-1)!, { baseFeeWei, capWei: feeCapWei });
  if (!fees) return;
  const { nonce, gasLimit, callData, transactionId } = transaction;
  const signed = signer.sign({
    chainId: chain.chainId,
    nonce,
    to: chain.paymentManagerAddress,
    data: `0x${callData.toString("hex")}`,
    gasLimit,
    ...fees,
  });
  await tx(db, async (tx) => {
    await fence(tx, lease);
    await insertVersion(tx, transactionId, { ...signed, ...fees });
  });
  await broadcast(deps, { transactionId, ...signed });
}
