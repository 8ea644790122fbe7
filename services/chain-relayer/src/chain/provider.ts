import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Log } from "@wonrail/kit/log";
import { type Counter } from "@wonrail/kit/metrics";
import { type Rpc, RpcUnclear } from "./rpc";

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

export interface LogFilter {
  addresses: string[];
  topics?: (string | string[])[];
  fromBlock: bigint;
  to: Pick<Block, "number" | "hash">;
}

/** Calls in one HTTP request: what public endpoints take. */
const MAX_CALLS_AT_ONCE = 100;

/** How often a question is asked before the work that needs the answer is put off. */
const ROUNDS = 3;
const PAUSE_MS = 50;

/** The chain as one source. With several endpoints, facts on which money depends are taken only when all that answer agree. */
export interface Provider {
  /** Stops the start when an endpoint is on another chain. */
  checkChain(): Promise<void>;
  latestBlock(): Promise<Block>;
  finalBlock(): Promise<Block | null>;
  block(number: bigint): Promise<Block | null>;
  /** Every log of these blocks, from endpoints that have the last of them, on the chain that it should be. */
  logs(filter: LogFilter): Promise<ChainLog[]>;
  receipt(txHash: string): Promise<Receipt | null>;
  /** By hash; what is in no block is absent. */
  receipts(txHashes: string[]): Promise<Map<string, Receipt>>;
  /** How many transactions of the account are in the chain up to this block. */
  nonce(address: string, at: "latest" | "pending" | bigint): Promise<bigint>;
  balance(address: string): Promise<bigint>;
  callAt(to: string, data: string, at: bigint): Promise<string>;
  callManyAt(to: string, data: string[], at: bigint): Promise<string[]>;
  priorityFeeWei(): Promise<bigint>;
  /** To every endpoint; the first that takes it is enough. */
  send(raw: string): Promise<string>;
}

export function createProvider({ rpcs, chainId, finality, log, disagreements }: ProviderOptions): Provider {
  const any = <T>(method: string, params: unknown[]) => firstOf((rpc) => rpc.call<T>(method, params));
  const anyBatch = <T>(calls: { method: string; params: unknown[] }[]) =>
    firstOf((rpc) => rpc.batch<T>(calls));

  /** The first endpoint that answers, asked a few times. Only for questions: what is sent is sent once. */
  async function firstOf<T>(ask: (rpc: Rpc) => Promise<T>): Promise<T> {
    let last: unknown = new RpcUnclear("there is no endpoint");
    for (let round = 1; round <= ROUNDS; round += 1) {
      for (const rpc of rpcs) {
        try {
          return await ask(rpc);
        } catch (error) {
          if (!(error instanceof RpcUnclear)) throw error;
          last = error;
        }
      }
      if (round < ROUNDS) await sleep(PAUSE_MS * round);
    }
    throw last;
  }

  /**
   * The answer of more than half of the endpoints that answer; the others are reported. Where there is no such answer nobody is believed,
   * and the work stops until there is.
   */
  async function agreed<T>(what: string, ask: (rpc: Rpc) => Promise<T>): Promise<T> {
    const answers = await Promise.allSettled(rpcs.map((rpc) => patiently(() => ask(rpc))));
    const given = answers.flatMap((answer, index) =>
      answer.status === "fulfilled" ? [{ name: rpcs[index]!.name, value: answer.value }] : [],
    );
    if (given.length === 0) throw reasonOf(answers);
    const sides = given.map(({ value }) => given.filter((other) => isDeepStrictEqual(other.value, value)));
    const [most] = sides.sort((one, other) => other.length - one.length);
    const outvoted = given.filter((one) => !most!.includes(one));
    for (const { name } of outvoted) disagreements.inc({ provider: name });
    if (outvoted.length > 0)
      log.error({ what, providers: outvoted.map(({ name }) => name) }, "endpoints disagree about the chain");
    if (most!.length * 2 <= given.length) throw new RpcUnclear("endpoints disagree about the chain");
    return most![0]!.value;
  }

  const agreedBlock = async (tag: string) => {
    const block = await agreed("block", (rpc) =>
      rpc.call<RawBlock | null>("eth_getBlockByNumber", [tag, false]),
    );
    return block && toBlock(block);
  };

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
      return agreedBlock(hex(lowest));
    },
    block: (number) => agreedBlock(hex(number)),
    async logs(filter) {
      const logs = await agreed("logs", (rpc) => logsFrom(rpc, filter, chainId));
      return logs.map(toLog);
    },
    async receipt(txHash) {
      const receipt = await any<RawReceipt | null>("eth_getTransactionReceipt", [txHash]);
      return receipt && toReceipt(receipt);
    },
    async receipts(txHashes) {
      const found = new Map<string, Receipt>();
      for (const part of chunks(txHashes)) {
        const calls = part.map((txHash) => ({ method: "eth_getTransactionReceipt", params: [txHash] }));
        const receipts = await anyBatch<RawReceipt | null>(calls);
        receipts.forEach((receipt, index) => receipt && found.set(part[index]!, toReceipt(receipt)));
      }
      return found;
    },
    async nonce(address, at) {
      return BigInt(
        await any<string>("eth_getTransactionCount", [address, typeof at === "bigint" ? hex(at) : at]),
      );
    },
    async balance(address) {
      return BigInt(await any<string>("eth_getBalance", [address, "latest"]));
    },
    callAt: (to, data, at) => agreed("call", (rpc) => rpc.call<string>("eth_call", [{ to, data }, hex(at)])),
    async callManyAt(to, data, at) {
      const results: string[] = [];
      for (const part of chunks(data)) {
        const calls = part.map((one) => ({ method: "eth_call", params: [{ to, data: one }, hex(at)] }));
        results.push(...(await anyBatch<string>(calls)));
      }
      return results;
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

/**
 * One endpoint is often many nodes, some of them behind: such a node answers with the logs it has, and no error. So it has to show, in the same
 * request, that it is on our chain and has the last block.
 */
async function logsFrom(rpc: Rpc, { addresses, topics, fromBlock, to }: LogFilter, chainId: bigint) {
  const [id, block, logs] = await rpc.batch<unknown>([
    { method: "eth_chainId", params: [] },
    { method: "eth_getBlockByNumber", params: [hex(to.number), false] },
    {
      method: "eth_getLogs",
      params: [
        { address: addresses, fromBlock: hex(fromBlock), toBlock: hex(to.number), ...(topics && { topics }) },
      ],
    },
  ]);
  if (BigInt(id as string) !== chainId) throw new RpcUnclear(`${rpc.name} is on another chain`);
  if ((block as RawBlock | null)?.hash !== to.hash)
    throw new RpcUnclear(`${rpc.name} does not have block ${to.number}`);
  return logs as RawLog[];
}

async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof RpcUnclear) || round === ROUNDS) throw error;
    }
    await sleep(PAUSE_MS * round);
  }
}

function chunks<T>(all: T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / MAX_CALLS_AT_ONCE) }, (_, index) =>
    all.slice(index * MAX_CALLS_AT_ONCE, (index + 1) * MAX_CALLS_AT_ONCE),
  );
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
