import { assertChain, WrongChain } from "./endpoints";
import { type RawLog, type RawReceipt, receiptsFrom } from "./receipts";
import { type Rpc, RpcMissingBlock, RpcRefusal, RpcUnanswered } from "./rpc";

export interface ChainLog {
  address: string;
  topics: string[];
  data: string;
  blockNumber: bigint;
  blockHash: string;
  txHash: string;
  logIndex: number;
}

export interface LogFilter {
  addresses: string[];
  topics?: (string | string[])[];
  fromBlock: bigint;
  /** The last block. */
  to: { number: bigint; hash: string };
}

interface RawBlock {
  hash: string;
  transactions: string[];
}

/**
 * Returns every log of these blocks. Endpoints have unknown limits, and any payer of gas can fill a
 * block with our events. So a single block beyond the limit is read from its receipts.
 */
export async function logsFrom(rpc: Rpc, filter: LogFilter, chainId: bigint): Promise<ChainLog[]> {
  try {
    return await searchLogs(rpc, filter, chainId);
  } catch (error) {
    if (filter.fromBlock < filter.to.number || !isPossiblyTooLarge(error)) throw error;
    return readLogs(rpc, filter, chainId);
  }
}

/**
 * Endpoints refuse a large question, answer too late, or exceed the accepted size, each in its own
 * way.
 */
export function isPossiblyTooLarge(error: unknown): boolean {
  if (error instanceof RpcMissingBlock || error instanceof WrongChain) return false;
  return error instanceof RpcRefusal || error instanceof RpcUnanswered;
}

/**
 * A provider often has many nodes, and a lagging one answers with the logs it has, without an
 * error. So the same request must prove that the node is on our chain and has the last block.
 */
async function searchLogs(rpc: Rpc, filter: LogFilter, chainId: bigint): Promise<ChainLog[]> {
  const { addresses, topics, fromBlock, to } = filter;
  const range = { fromBlock: hex(fromBlock), toBlock: hex(to.number) };
  const [id, block, logs] = await rpc.batch<unknown>([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: [hex(to.number), false] },
    { method: "eth_getLogs", params: [{ address: addresses, ...range, ...(topics && { topics }) }] },
  ]);
  assertThere(rpc, { id, block }, filter, chainId);
  return (logs as RawLog[]).map(toLog);
}

/** Reads a block's logs from its receipts. Keeps only the requested logs. */
async function readLogs(rpc: Rpc, filter: LogFilter, chainId: bigint): Promise<ChainLog[]> {
  const at = hex(filter.to.number);
  const [id, block] = await rpc.batch<unknown>([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: [at, false] },
  ]);
  assertThere(rpc, { id, block }, filter, chainId);
  const txHashes = (block as RawBlock).transactions;
  const take = (receipt: RawReceipt | null | undefined, txHash: string) => {
    if (receipt?.blockHash !== filter.to.hash || receipt.transactionHash !== txHash)
      throw new RpcMissingBlock(`${rpc.name} does not have the receipts of block ${filter.to.number}`);
    return receipt.logs.map(toLog).filter((log) => isAskedFor(log, filter));
  };
  const all = await receiptsOf(rpc, at, txHashes.length);
  if (all) return txHashes.flatMap((txHash, index) => take(all[index], txHash));
  return (await receiptsFrom(rpc, txHashes, take)).flat();
}

/** Returns null where the node cannot give all receipts in one accepted answer. */
async function receiptsOf(rpc: Rpc, at: string, count: number): Promise<RawReceipt[] | null> {
  try {
    const receipts = await rpc.call<RawReceipt[] | null>("eth_getBlockReceipts", [at]);
    return receipts?.length === count ? receipts : null;
  } catch (error) {
    if (!isPossiblyTooLarge(error)) throw error;
    return null;
  }
}

function assertThere(
  rpc: Rpc,
  { id, block }: { id: unknown; block: unknown },
  { to }: LogFilter,
  chainId: bigint,
): void {
  assertChain(rpc, id, chainId);
  if ((block as RawBlock | null)?.hash !== to.hash)
    throw new RpcMissingBlock(`${rpc.name} does not have block ${to.number}`);
}

/** The filter as a node applies it. */
function isAskedFor({ address, topics }: ChainLog, filter: LogFilter): boolean {
  if (!filter.addresses.some((one) => one.toLowerCase() === address)) return false;
  return (filter.topics ?? []).every((topic, place) => [topic].flat().includes(topics[place] ?? ""));
}

export function toLog(raw: RawLog): ChainLog {
  return {
    address: raw.address.toLowerCase(),
    topics: raw.topics,
    data: raw.data,
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    txHash: raw.transactionHash,
    logIndex: Number(BigInt(raw.logIndex)),
  };
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
