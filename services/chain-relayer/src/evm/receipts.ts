import { chunksOf } from "@wonrail/kit/chunksOf";
import { isResponseTooLarge, type Rpc } from "./rpc";

export interface RawLog {
  address: string;
  topics: string[];
  data: string;
  blockNumber: string;
  blockHash: string;
  transactionHash: string;
  logIndex: string;
}

export interface RawReceipt {
  transactionHash: string;
  blockNumber: string;
  blockHash: string;
  gasUsed: string;
  status: string;
  logs: RawLog[];
}

/** A full batch's receipt has about 350 KB, mostly logs. */
export const RECEIPTS_AT_ONCE = 16;

/**
 * Reads receipts in order, in smaller parts where an answer would be too large. Keeps only the
 * value that `read` returns.
 */
export async function receiptsFrom<T>(
  rpc: Rpc,
  txHashes: string[],
  read: (receipt: RawReceipt | null, txHash: string) => T,
): Promise<T[]> {
  const found: T[] = [];
  for (const part of chunksOf(txHashes, RECEIPTS_AT_ONCE)) found.push(...(await partFrom(rpc, part, read)));
  return found;
}

async function partFrom<T>(
  rpc: Rpc,
  txHashes: string[],
  read: (receipt: RawReceipt | null, txHash: string) => T,
): Promise<T[]> {
  const calls = txHashes.map((txHash) => ({ method: "eth_getTransactionReceipt", params: [txHash] }));
  try {
    const receipts = await rpc.batch<RawReceipt | null>(calls);
    return receipts.map((receipt, index) => read(receipt, txHashes[index]!));
  } catch (error) {
    if (!isResponseTooLarge(error)) throw error;
    if (txHashes.length === 1) {
      // A single receipt cannot be split. The scan stops there, so the error names the transaction.
      (error as Error).message += `: the receipt of ${txHashes[0]}`;
      throw error;
    }
    const half = txHashes.length >> 1;
    const first = await partFrom(rpc, txHashes.slice(0, half), read);
    return [...first, ...(await partFrom(rpc, txHashes.slice(half), read))];
  }
}
