/** A proxy of a node that invents transfers or blocks. */
import { startHttpProxy } from "@wonrail/kit/testing";
import { id, zeroPadValue } from "ethers";

export interface LyingNode {
  url: string;
  /** As its name appears in logs and metrics. */
  host: string;
  /** Adds an invented transfer to this address to the last block of every answer with logs. */
  invent(deposit: { tokenAddress: string; to: string; units: bigint }): void;
  /** Gives every block another hash. */
  forgeBlocks(): void;
  /** Answers numbers as 0 or extreme values, and receipts as absent. */
  exaggerate(): void;
  /** Hides everything after this block. */
  standStillAt(height: number): void;
  /** Enlarges every receipt to that of a full batch. */
  sayMuch(): void;
  tellTheTruth(): void;
  close(): Promise<void>;
}

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

interface Answer {
  id: number;
  result?: unknown;
}

type Lie = (call: Call, result: unknown) => unknown;

const TRANSFER = id("Transfer(address,address,uint256)");
const UNRELATED_ADDRESS = `0x${"5e".repeat(20)}`;

export async function startLyingNode(target: string): Promise<LyingNode> {
  let lie: Lie = (_, result) => result;
  const proxy = await startHttpProxy(target, async ({ body, forward }) => {
    const asked = JSON.parse(body) as Call | Call[];
    const calls = new Map([asked].flat().map((call) => [call.id, call]));
    const answered = await forward();
    const answers = JSON.parse(answered.body) as Answer | Answer[];
    for (const answer of [answers].flat())
      if ("result" in answer) answer.result = lie(calls.get(answer.id)!, answer.result);
    return { ...answered, body: JSON.stringify(answers) };
  });
  return {
    ...proxy,
    invent: (deposit) => void (lie = inventing(deposit)),
    forgeBlocks: () => void (lie = forgingBlocks),
    exaggerate: () => void (lie = exaggerating),
    standStillAt: (height) => void (lie = frozenHead(height)),
    sayMuch: () => void (lie = withOversizedReceipt),
    tellTheTruth: () => void (lie = (_, result) => result),
  };
}

function inventing({ tokenAddress, to, units }: Parameters<LyingNode["invent"]>[0]): Lie {
  return ({ method, params }, result) => {
    if (method !== "eth_getLogs") return result;
    const { toBlock } = params[0] as { toBlock: string };
    const invented = {
      address: tokenAddress,
      topics: [TRANSFER, zeroPadValue(UNRELATED_ADDRESS, 32), zeroPadValue(to, 32)],
      data: `0x${units.toString(16).padStart(64, "0")}`,
      blockNumber: toBlock,
      blockHash: `0x${"b1".repeat(32)}`,
      transactionHash: id(`invented in ${toBlock}`),
      logIndex: "0x0",
    };
    return [...(result as unknown[]), invented];
  };
}

function forgingBlocks({ method }: Call, result: unknown): unknown {
  if (method !== "eth_getBlockByNumber" || result === null) return result;
  const block = result as { number: string };
  return { ...block, hash: id(`forged ${block.number}`) };
}

function exaggerating({ method }: Call, result: unknown): unknown {
  const much = `0x${"f".repeat(12)}`;
  switch (method) {
    case "eth_getTransactionCount":
    case "eth_maxPriorityFeePerGas":
      return much;
    case "eth_getBalance":
      return "0x0";
    case "eth_getTransactionReceipt":
      return null;
    case "eth_call":
      return `0x${"0".repeat(64)}`;
    case "eth_getBlockByNumber":
      return result && { ...result, baseFeePerGas: much, timestamp: "0x1" };
    default:
      return result;
  }
}

function withOversizedReceipt({ method }: Call, result: unknown): unknown {
  if (method !== "eth_getTransactionReceipt" || result === null) return result;
  return { ...(result as object), more: "0".repeat(350_000) };
}

function frozenHead(height: number): Lie {
  return ({ method }, result) => {
    switch (method) {
      case "eth_blockNumber":
        return `0x${height.toString(16)}`;
      case "eth_getBlockByNumber": {
        const block = result as { number: string } | null;
        return block && Number(block.number) > height
          ? { ...block, number: `0x${height.toString(16)}` }
          : block;
      }
      case "eth_getTransactionReceipt":
        return null;
      case "eth_getTransactionCount":
        return "0x0";
      default:
        return result;
    }
  };
}
