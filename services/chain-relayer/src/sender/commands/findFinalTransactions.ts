import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database } from "@wonrail/kit/db";
import { type Block, type Provider, type Receipt } from "../../evm";
import {
  type ChainTransaction,
  hashesOf,
  listBusySigners,
  listOpenTransactions,
} from "../store/transactions";

/** A transaction of ours in a final block. */
export interface FinalTransaction {
  transactionId: bigint;
  succeeded: boolean;
  gasUsed: bigint;
}

const AT_ONCE = 8;

/**
 * Open transactions that are mined up to this final block, of every signer, including retired keys.
 */
export async function findFinalTransactions(
  { db, provider }: { db: Database; provider: Provider },
  to: Block,
): Promise<FinalTransaction[]> {
  const final: FinalTransaction[] = [];
  for (const signer of await listBusySigners(db)) {
    // The latest nonce only skips unmined transactions: the receipt names the block. The nonce
    // at `to` needs a state that usual nodes forget after some hundred blocks.
    const latestNonce = await provider.nonce(signer, "latest");
    const mined = (await listOpenTransactions(db, signer)).filter(({ nonce }) => nonce < latestNonce);
    final.push(...(await finalUpTo(provider, mined, to)));
  }
  return final;
}

/** Transactions are mined in the order of their nonces, so the first one beyond `to` ends the search. */
async function finalUpTo(
  provider: Provider,
  mined: ChainTransaction[],
  to: Block,
): Promise<FinalTransaction[]> {
  const final: FinalTransaction[] = [];
  for (const part of chunksOf(mined, AT_ONCE)) {
    const receipts = await provider.receipts(hashesOf(part));
    for (const { transactionId, versions } of part) {
      const receipt = versions.flatMap(({ txHash }) => receipts.get(txHash) ?? [])[0];
      if (!receipt) continue;
      if (receipt.blockNumber > to.number) return final;
      const { succeeded, gasUsed } = receipt;
      if (await isCanonical(provider, receipt)) final.push({ transactionId, succeeded, gasUsed });
    }
  }
  return final;
}

/**
 * A node that lags may still have the receipt of a dropped block. The sender never sends a FINAL
 * transaction again, so a wrong answer would leave its nonce free and block every later one.
 */
async function isCanonical(provider: Provider, { blockNumber, blockHash }: Receipt): Promise<boolean> {
  return (await provider.block(blockNumber))?.hash === blockHash;
}
