/**
 * A proxy between a service and its EVM node that injects faults of nodes and networks, by a seed.
 */
import { type HttpReaction, type ProxiedRequest, startHttpProxy } from "@wonrail/kit/testing";
import { pick, seeded } from "@wonrail/kit/testing/random";

export type RpcFault =
  /** Never passed on, never answered. */
  | "timeout_before"
  /** Passed on, never answered. */
  | "timeout_after"
  /** Passed on, and then the connection breaks. */
  | "dropped"
  | "http_429"
  | "http_500"
  | "html"
  | "wrong_chain"
  /** Answered by a node that is some blocks behind. */
  | "stale"
  /** The node lacks receipts of mined transactions. */
  | "no_receipt"
  /** Only for a sent transaction, which may or may not be forwarded. */
  | "nonce_too_low"
  | "already_known"
  | "underpriced";

export interface RpcProxy {
  url: string;
  /** From 0 to 1. */
  setRate(rate: number): void;
  /** Only these from now on. */
  setFaults(faults: readonly RpcFault[]): void;
  /** Number of requests with a fault. */
  faultsDone(): number;
  close(): Promise<void>;
}

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

const TRANSPORT_FAULTS: readonly RpcFault[] = [
  "timeout_before",
  "timeout_after",
  "dropped",
  "http_429",
  "http_500",
  "html",
];
const REFUSALS: Partial<Record<RpcFault, string>> = {
  nonce_too_low: "nonce too low: next nonce 9, tx nonce 8",
  already_known: "already known",
  underpriced: "replacement transaction underpriced",
};
const ALL_FAULTS: readonly RpcFault[] = [
  ...TRANSPORT_FAULTS,
  "wrong_chain",
  "stale",
  "no_receipt",
  ...(Object.keys(REFUSALS) as RpcFault[]),
];
const HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>";
const BLOCKS_BEHIND = 5;

export async function startRpcProxy(target: string, seed: number): Promise<RpcProxy> {
  const random = seeded(seed);
  let rate = 0;
  let faultsDone = 0;
  let faults = ALL_FAULTS;

  const proxy = await startHttpProxy(target, async (request) => {
    const fault = random() < rate ? pick(random, faults.filter(applies(request.body))) : undefined;
    if (fault !== undefined) faultsDone += 1;
    return reactionTo(fault, request, random);
  });
  return {
    url: proxy.url,
    setRate: (value) => void (rate = value),
    setFaults: (value) => void (faults = value),
    faultsDone: () => faultsDone,
    close: () => proxy.close(),
  };
}

async function reactionTo(
  fault: RpcFault | undefined,
  request: ProxiedRequest,
  random: () => number,
): Promise<HttpReaction> {
  switch (fault) {
    case undefined:
      return request.forward();
    case "timeout_before":
      return "silence";
    case "timeout_after":
      await request.forward();
      return "silence";
    case "dropped":
      await request.forward();
      return "drop";
    case "http_429":
      return answer("slow down", 429);
    case "http_500":
      return answer('{"jsonrpc":"2.0"}', 500);
    case "html":
      return answer(HTML, 200, "text/html");
    case "wrong_chain":
      return forwardEach(request, onWrongChain);
    case "stale":
      return forwardEach(request, await staleness(request));
    case "no_receipt":
      return forwardEach(request, withoutReceipt);
    case "nonce_too_low":
    case "already_known":
    case "underpriced":
      if (random() < 0.5) await request.forward();
      return answer(refusal(request.body, REFUSALS[fault]!));
  }
}

function answer(body: string, status = 200, type = "application/json"): HttpReaction {
  return { status, headers: { "content-type": type }, body };
}

/**
 * Refusals apply to sent transactions; a wrong chain and a missing receipt to the calls that ask
 * for them.
 */
function applies(body: string): (fault: RpcFault) => boolean {
  return (fault) => {
    if (fault in REFUSALS) return body.includes("eth_sendRawTransaction");
    if (fault === "no_receipt") return body.includes("eth_getTransactionReceipt");
    return fault !== "wrong_chain" || body.includes("eth_chainId");
  };
}

type Change = (call: Call) => Call | { result: unknown };

async function forwardEach(request: ProxiedRequest, change: Change): Promise<HttpReaction> {
  const parsed = JSON.parse(request.body) as Call | Call[];
  const calls = Array.isArray(parsed) ? parsed : [parsed];
  const answers = await Promise.all(
    calls.map(async (call): Promise<unknown> => {
      const changed = change(call);
      if ("result" in changed) return { jsonrpc: "2.0", id: call.id, result: changed.result };
      return JSON.parse((await request.forward(JSON.stringify(changed))).body);
    }),
  );
  return answer(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]));
}

function onWrongChain(call: Call): ReturnType<Change> {
  return call.method === "eth_chainId" ? { result: "0x1" } : call;
}

function withoutReceipt(call: Call): ReturnType<Change> {
  return call.method === "eth_getTransactionReceipt" ? { result: null } : call;
}

/** Answers of a node that lags: older heads, no newer blocks, fewer logs. */
async function staleness(request: ProxiedRequest): Promise<Change> {
  const asked = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
  const { result } = JSON.parse((await request.forward(asked)).body) as { result: string };
  const height = Math.max(0, Number(result) - BLOCKS_BEHIND);
  const known = (tag: unknown): unknown => {
    if (tag === "latest" || tag === "pending") return hex(height);
    if (tag === "finalized") return hex(Math.max(0, height - 2));
    return tag;
  };
  return (call) => {
    const [first, second] = call.params;
    if (call.method === "eth_blockNumber") return { result: hex(height) };
    if (call.method === "eth_getTransactionReceipt") return { result: null };
    if (call.method === "eth_getBlockByNumber") {
      const tag = known(first);
      return Number(tag) > height ? { result: null } : { ...call, params: [tag, second] };
    }
    if (call.method === "eth_getLogs") {
      const filter = first as { fromBlock: string; toBlock: string };
      if (Number(filter.fromBlock) > height) return { result: [] };
      const toBlock = Number(filter.toBlock) > height ? hex(height) : filter.toBlock;
      return { ...call, params: [{ ...filter, toBlock }] };
    }
    return { ...call, params: call.params.map(known) };
  };
}

function refusal(body: string, message: string): string {
  const { id } = JSON.parse(body) as Call;
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message } });
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
