import { type Log } from "@wonrail/kit/log";
import { type Counter, type Gauge } from "@wonrail/kit/metrics";
import { assertChain, createEndpoints, medianOf, highestReachedBy, findValueSharedBy } from "./endpoints";
import { decodeLog, type TokenMovement } from "./contracts";
import { type ChainLog, type LogFilter, logsFrom, toLog } from "./logs";
import { type RawReceipt, RECEIPTS_AT_ONCE, receiptsFrom } from "./receipts";
import { type Rpc, RpcMissingBlock } from "./rpc";

export interface Block {
  number: bigint;
  hash: string;
  parentHash: string;
  time: bigint;
  baseFeeWei: bigint;
  gasLimit: bigint;
}

export interface Receipt {
  blockNumber: bigint;
  blockHash: string;
  gasUsed: bigint;
  succeeded: boolean;
}

export interface TransferReceipt extends Receipt {
  /** In the order of their logs. */
  transfers: TokenMovement[];
}

/** `finalized`, or the number of blocks on top that make a block final. */
export type Finality = "finalized" | number;

export interface ProviderOptions {
  rpcs: Rpc[];
  chainId: bigint;
  finality: Finality;
  log: Log;
  disagreements: Counter<"provider">;
  up: Gauge<"provider">;
}

/** Calls per HTTP request, within the limits of public endpoints. */
const MAX_CALLS_AT_ONCE = 100;

/** Endpoints usually differ by a few blocks. An endpoint that lags by this much is reported. */
const FAR_BEHIND = 64n;

/** The chain as one source. Money-relevant facts need a quorum of all configured endpoints. */
export interface Provider {
  /** Stops the start when an endpoint is on another chain. */
  checkChain(): Promise<void>;
  latestBlock(): Promise<Block>;
  finalBlock(): Promise<Block | null>;
  block(number: bigint): Promise<Block | null>;
  /** Every log of these blocks, from endpoints that have the last of them on the right chain. */
  logs(filter: LogFilter): Promise<ChainLog[]>;
  /** By hash; absent if a quorum does not have the same receipt. */
  receipts(txHashes: string[]): Promise<Map<string, Receipt>>;
  /** The same with the transfers of this token in each. */
  transferReceipts(txHashes: string[], tokenAddress: string): Promise<Map<string, TransferReceipt>>;
  /** How many transactions of the account are in the chain up to this block. */
  nonce(address: string, at: "latest" | "pending" | bigint): Promise<bigint>;
  balance(address: string): Promise<bigint>;
  /** The gas of an empty call. */
  estimateGas(from: string, to: string): Promise<bigint>;
  callAt(to: string, data: string, at: bigint, from?: string): Promise<string>;
  callManyAt(to: string, data: string[], at: bigint): Promise<string[]>;
  priorityFeeWei(): Promise<bigint>;
  /** Sends to every endpoint; one acceptance suffices. */
  send(raw: string): Promise<string>;
}

export function createProvider({ finality, ...options }: ProviderOptions): Provider {
  const endpoints = createEndpoints({ ...options, monotonicMs: () => performance.now() });
  /** An estimate: the middle of the endpoints that answer. */
  async function estimate(method: string, params: unknown[]): Promise<bigint> {
    const answers = await endpoints.all(async (rpc) => BigInt(await rpc.call<string>(method, params)));
    return medianOf(answers.map(({ value }) => value));
  }

  /** Returns null without a quorum. */
  async function agreedBlock(at: bigint): Promise<Block | null> {
    try {
      return await endpoints.agreed("block", (rpc) => blockOf(rpc, hex(at)));
    } catch (error) {
      if (error instanceof RpcMissingBlock) return null;
      throw error;
    }
  }

  async function readReceipts<T>(txHashes: string[], read: (raw: RawReceipt) => T): Promise<Map<string, T>> {
    const found = new Map<string, T>();
    for (const part of chunks(txHashes, RECEIPTS_AT_ONCE)) {
      const given = await endpoints.quorum((rpc) => receiptsFrom(rpc, part, (raw) => raw && read(raw)));
      part.forEach((txHash, index) => {
        const receipt = findValueSharedBy(
          given.map(({ value }) => value[index]!),
          endpoints.quorumSize,
        );
        if (receipt !== null) found.set(txHash, receipt);
      });
    }
    return found;
  }

  return {
    checkChain: () => endpoints.checkChain(),
    async latestBlock() {
      // Honest endpoints differ here by a block: each figure is the middle of the answers.
      const blocks = (await endpoints.all((rpc) => blockOf(rpc, "latest"))).map(({ value }) => value);
      const of = (figure: "number" | "time" | "baseFeeWei" | "gasLimit") =>
        medianOf(blocks.map((block) => block[figure]));
      const head = blocks.find((block) => block.number === of("number"))!;
      return { ...head, time: of("time"), baseFeeWei: of("baseFeeWei"), gasLimit: of("gasLimit") };
    },
    async finalBlock() {
      const heights = await endpoints.quorum((rpc) => finalHeight(rpc, finality));
      const height = highestReachedBy(
        heights.map(({ value }) => value),
        endpoints.quorumSize,
      );
      const behind = heights.filter(({ value }) => value + FAR_BEHIND < height);
      endpoints.report(
        "height",
        behind.map(({ name }) => name),
      );
      return height < 0n ? null : agreedBlock(height);
    },
    block: agreedBlock,
    logs: (filter) => endpoints.agreed("logs", (rpc) => logsFrom(rpc, filter, options.chainId)),
    receipts: (txHashes) => readReceipts(txHashes, toReceipt),
    transferReceipts: (txHashes, tokenAddress) =>
      readReceipts(txHashes, (raw) => ({ ...toReceipt(raw), transfers: transfersOf(raw, tokenAddress) })),
    nonce: (address, at) =>
      endpoints.reached((rpc) =>
        nonceFrom(rpc, address, typeof at === "bigint" ? hex(at) : at, options.chainId),
      ),
    balance: (address) => estimate("eth_getBalance", [address, "latest"]),
    estimateGas: (from, to) => estimate("eth_estimateGas", [{ from, to }]),
    callAt: (to, data, at, from) =>
      endpoints.agreed("call", (rpc) =>
        rpc.call<string>("eth_call", [{ ...(from && { from }), to, data }, hex(at)]),
      ),
    async callManyAt(to, data, at) {
      const results: string[] = [];
      for (const part of chunks(data, MAX_CALLS_AT_ONCE)) {
        const calls = part.map((one) => ({ method: "eth_call", params: [{ to, data: one }, hex(at)] }));
        results.push(...(await endpoints.agreed("calls", (rpc) => rpc.batch<string>(calls))));
      }
      return results;
    },
    priorityFeeWei: () => estimate("eth_maxPriorityFeePerGas", []),
    send: (raw) => endpoints.tell((rpc) => rpc.call<string>("eth_sendRawTransaction", [raw])),
  };
}

/** The same request proves the chain id, because a used nonce of another chain cannot be undone. */
async function nonceFrom(rpc: Rpc, address: string, at: string, chainId: bigint): Promise<bigint> {
  const [id, nonce] = await rpc.batch<string>([
    { method: "eth_chainId", params: [] },
    { method: "eth_getTransactionCount", params: [address, at] },
  ]);
  assertChain(rpc, id, chainId);
  return BigInt(nonce!);
}

async function blockOf(rpc: Rpc, tag: string): Promise<Block> {
  const raw = await rpc.call<RawBlock | null>("eth_getBlockByNumber", [tag, false]);
  if (!raw) throw new RpcMissingBlock(`${rpc.name} does not have block ${tag}`);
  return toBlock(raw);
}

function chunks<T>(all: T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / length) }, (_, index) =>
    all.slice(index * length, (index + 1) * length),
  );
}

async function finalHeight(rpc: Rpc, finality: Finality): Promise<bigint> {
  if (finality === "finalized") {
    const block = await rpc.call<RawBlock | null>("eth_getBlockByNumber", ["finalized", false]);
    return block ? BigInt(block.number) : -1n;
  }
  return BigInt(await rpc.call<string>("eth_blockNumber", [])) - BigInt(finality);
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

function toReceipt(raw: RawReceipt): Receipt {
  return {
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    gasUsed: BigInt(raw.gasUsed),
    succeeded: BigInt(raw.status) === 1n,
  };
}

function transfersOf({ logs }: RawReceipt, tokenAddress: string): TokenMovement[] {
  const contracts = { tokenAddress, paymentManagers: [] };
  return logs.flatMap((log) => {
    const event = decodeLog(toLog(log), contracts);
    if (event?.kind !== "transfer") return [];
    const { from, to, units } = event;
    return [{ from, to, units }];
  });
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`;
}
