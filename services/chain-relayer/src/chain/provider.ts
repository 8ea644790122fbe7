import { isDeepStrictEqual } from "node:util";
import { type Log } from "@wonrail/kit/log";
import { type Counter } from "@wonrail/kit/metrics";
import { type Rpc, RpcRefusal, RpcUnclear } from "./rpc";

export interface Block {
  number: bigint;
  hash: string;
  parentHash: string;
  time: bigint;
  baseFeeWei: bigint;
  gasLimit: bigint;
}

export interface ChainLog {
  address: string;
  topics: string[];
  data: string;
  blockNumber: bigint;
  blockHash: string;
  txHash: string;
  logIndex: number;
}

export interface Receipt {
  blockNumber: bigint;
  blockHash: string;
  gasUsed: bigint;
  succeeded: boolean;
}

/** `finalized`, or how many blocks on top make one final. */
export type Finality = "finalized" | number;

export interface ProviderOptions {
  rpcs: Rpc[];
  chainId: bigint;
  finality: Finality;
  log: Log;
  disagreements: Counter<"provider">;
}

/** The chain as one source. With several endpoints, facts on which money depends are taken only when all that answer agree. */
export interface Provider {
  /** Stops the start when an endpoint is on another chain. */
  checkChain(): Promise<void>;
  latestBlock(): Promise<Block>;
  finalBlock(): Promise<Block | null>;
  block(number: bigint): Promise<Block | null>;
  logs(filter: { addresses: string[]; fromBlock: bigint; toBlock: bigint }): Promise<ChainLog[]>;
  receipt(txHash: string): Promise<Receipt | null>;
  /** How many transactions of the account are in the chain up to this block. */
  nonce(address: string, at: "latest" | "pending" | bigint): Promise<bigint>;
  balance(address: string): Promise<bigint>;
  callAt(to: string, data: string, at: bigint): Promise<string>;
  callManyAt(to: string, data: string[], at: bigint): Promise<string[]>;
  estimateGas(call: { from: string; to: string; data: string }): Promise<bigint>;
  priorityFeeWei(): Promise<bigint>;
  /** To every endpoint; the first that takes it is enough. */
  send(raw: string): Promise<string>;
}

export function createProvider({ rpcs, chainId, finality, log, disagreements }: ProviderOptions): Provider {
  /** The first endpoint that answers. */
  async function any<T>(method: string, params: unknown[]): Promise<T> {
    let last: unknown = new RpcUnclear("there is no endpoint");
    for (const rpc of rpcs) {
      try {
        return await rpc.call<T>(method, params);
      } catch (error) {
        if (error instanceof RpcRefusal) throw error;
        last = error;
      }
    }
    throw last;
  }

  /** The answer on which all endpoints that answer agree. One that lies or lags stops the work, rather than being believed. */
  async function agreed<T>(method: string, params: unknown[]): Promise<T> {
    const answers = await Promise.allSettled(rpcs.map((rpc) => rpc.call<T>(method, params)));
    const given = answers.flatMap((answer, index) =>
      answer.status === "fulfilled" ? [{ rpc: rpcs[index]!, value: answer.value }] : [],
    );
    const [first] = given;
    if (!first) throw reasonOf(answers);
    const other = given.find(({ value }) => !isDeepStrictEqual(value, first.value));
    if (!other) return first.value;
    disagreements.inc({ provider: other.rpc.name });
    log.error({ method, providers: [first.rpc.name, other.rpc.name] }, "endpoints disagree about the chain");
    throw new RpcUnclear("endpoints disagree about the chain");
  }

  async function blockAt(tag: string): Promise<Block | null> {
    const found = await any<RawBlock | null>("eth_getBlockByNumber", [tag, false]);
    return found && toBlock(found);
  }

  return {
    async checkChain() {
      for (const rpc of rpcs) {
        const found = BigInt(await rpc.call<string>("eth_chainId", []));
        if (found !== chainId) throw new Error(`${rpc.name} is on chain ${found}, not ${chainId}`);
      }
    },
    async latestBlock() {
      const block = await blockAt("latest");
      if (!block) throw new RpcUnclear("the endpoint has no block");
      return block;
    },
    async finalBlock() {
      // The lowest of what the endpoints call final: one that lags holds the others up, one that runs ahead is not believed.
      const heights = await Promise.allSettled(rpcs.map((rpc) => finalHeight(rpc, finality)));
      const known = heights.flatMap((height) => (height.status === "fulfilled" ? [height.value] : []));
      if (known.length === 0) throw reasonOf(heights);
      const lowest = known.reduce((low, height) => (height < low ? height : low));
      if (lowest < 0n) return null;
      const block = await agreed<RawBlock | null>("eth_getBlockByNumber", [hex(lowest), false]);
      return block && toBlock(block);
    },
    async block(number) {
      const block = await agreed<RawBlock | null>("eth_getBlockByNumber", [hex(number), false]);
      return block && toBlock(block);
    },
    async logs({ addresses, fromBlock, toBlock }) {
      const logs = await agreed<RawLog[]>("eth_getLogs", [
        { address: addresses, fromBlock: hex(fromBlock), toBlock: hex(toBlock) },
      ]);
      return logs.map(toLog);
    },
    async receipt(txHash) {
      const receipt = await any<RawReceipt | null>("eth_getTransactionReceipt", [txHash]);
      return receipt && toReceipt(receipt);
    },
    async nonce(address, at) {
      return BigInt(
        await any<string>("eth_getTransactionCount", [address, typeof at === "bigint" ? hex(at) : at]),
      );
    },
    async balance(address) {
      return BigInt(await any<string>("eth_getBalance", [address, "latest"]));
    },
    callAt: (to, data, at) => agreed<string>("eth_call", [{ to, data }, hex(at)]),
    async callManyAt(to, data, at) {
      const [first] = rpcs;
      return first!.batch<string>(
        data.map((one) => ({ method: "eth_call", params: [{ to, data: one }, hex(at)] })),
      );
    },
    async estimateGas(call) {
      return BigInt(await any<string>("eth_estimateGas", [call]));
    },
    async priorityFeeWei() {
      return BigInt(await any<string>("eth_maxPriorityFeePerGas", []));
    },
    async send(raw) {
      const results = await Promise.allSettled(
        rpcs.map((rpc) => rpc.call<string>("eth_sendRawTransaction", [raw])),
      );
      const taken = results.find((result) => result.status === "fulfilled");
      if (taken) return taken.value;
      throw reasonOf(results);
    },
  };
}

async function finalHeight(rpc: Rpc, finality: Finality): Promise<bigint> {
  if (finality === "finalized") {
    const block = await rpc.call<RawBlock | null>("eth_getBlockByNumber", ["finalized", false]);
    return block ? BigInt(block.number) : -1n;
  }
  return BigInt(await rpc.call<string>("eth_blockNumber", [])) - BigInt(finality);
}

function reasonOf(results: PromiseSettledResult<unknown>[]): unknown {
  const rejected = results.find((result) => result.status === "rejected");
  return rejected?.reason ?? new RpcUnclear("there is no endpoint");
}

interface RawBlock {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  baseFeePerGas?: string;
  gasLimit: string;
}

function toBlock(raw: RawBlock): Block {
  return {
    number: BigInt(raw.number),
    hash: raw.hash,
    parentHash: raw.parentHash,
    time: BigInt(raw.timestamp),
    baseFeeWei: BigInt(raw.baseFeePerGas ?? "0x0"),
    gasLimit: BigInt(raw.gasLimit),
  };
}

interface RawLog {
  address: string;
  topics: string[];
  data: string;
  blockNumber: string;
  blockHash: string;
  transactionHash: string;
  logIndex: string;
}

function toLog(raw: RawLog): ChainLog {
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

interface RawReceipt {
  blockNumber: string;
  blockHash: string;
  gasUsed: string;
  status: string;
}

function toReceipt(raw: RawReceipt): Receipt {
  return {
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    gasUsed: BigInt(raw.gasUsed),
    succeeded: BigInt(raw.status) === 1n,
  };
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
