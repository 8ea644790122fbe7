/**
 * A proxy between a service and its EVM node that injects faults of nodes and networks, by a seed.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { pick, seeded } from "./random";

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

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const fault = random() < rate ? pick(random, faults.filter(applies(body))) : undefined;
    if (fault !== undefined) faultsDone += 1;
    await answer(fault, body, response);
  }

  async function answer(fault: RpcFault | undefined, body: string, response: ServerResponse): Promise<void> {
    const send = (text: string, status = 200, type = "application/json") =>
      response.writeHead(status, { "content-type": type }).end(text);
    switch (fault) {
      case undefined:
        return void send(await forward(target, body));
      case "timeout_before":
        return;
      case "timeout_after":
        return void (await forward(target, body));
      case "dropped":
        await forward(target, body);
        return void response.destroy();
      case "http_429":
        return void send("slow down", 429);
      case "http_500":
        return void send('{"jsonrpc":"2.0"}', 500);
      case "html":
        return void send(HTML, 200, "text/html");
      case "wrong_chain":
        return void send(await forwardEach(target, body, onWrongChain));
      case "stale":
        return void send(await forwardEach(target, body, await staleness(target)));
      case "no_receipt":
        return void send(await forwardEach(target, body, withoutReceipt));
      case "nonce_too_low":
      case "already_known":
      case "underpriced":
        if (random() < 0.5) await forward(target, body);
        return void send(refusal(body, REFUSALS[fault]!));
    }
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRate: (value) => void (rate = value),
    setFaults: (value) => void (faults = value),
    faultsDone: () => faultsDone,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
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

async function forward(target: string, body: string): Promise<string> {
  const response = await fetch(target, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return response.text();
}

type Change = (call: Call) => Call | { result: unknown };

async function forwardEach(target: string, body: string, change: Change): Promise<string> {
  const parsed = JSON.parse(body) as Call | Call[];
  const calls = Array.isArray(parsed) ? parsed : [parsed];
  const answers = await Promise.all(
    calls.map(async (call): Promise<unknown> => {
      const changed = change(call);
      if ("result" in changed) return { jsonrpc: "2.0", id: call.id, result: changed.result };
      return JSON.parse(await forward(target, JSON.stringify(changed)));
    }),
  );
  return JSON.stringify(Array.isArray(parsed) ? answers : answers[0]);
}

function onWrongChain(call: Call): ReturnType<Change> {
  return call.method === "eth_chainId" ? { result: "0x1" } : call;
}

function withoutReceipt(call: Call): ReturnType<Change> {
  return call.method === "eth_getTransactionReceipt" ? { result: null } : call;
}

/** Answers of a node that lags: older heads, no newer blocks, fewer logs. */
async function staleness(target: string): Promise<Change> {
  const asked = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] });
  const { result } = JSON.parse(await forward(target, asked)) as { result: string };
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

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function hex(value: number): string {
  return `0x${value.toString(16)}`;
}
