import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Interface, keccak256, Transaction } from "ethers";
import { listen } from "./listen.ts";

const ADDRESS = `0x${"cd".repeat(20)}`;

interface Refusal {
  code: number;
  message: string;
}

/** Reaction of the node to a raw transaction. */
export type Fate =
  | "taken"
  | "dropped after" // taken, and the connection closes
  | { refusal: Refusal; isKnown?: boolean };

export interface StubNode {
  url: string;
  /** The hashes of what it was given. */
  given: string[];
  /** The methods that it was asked for. */
  asked: string[];
  close(): Promise<void>;
}

interface Asked {
  id: number;
  method: string;
  params: string[];
}

interface StubNodeOptions {
  chainId?: number | undefined;
  /** Told of each method that it is asked for, before the answer. */
  onAsked?: ((method: string) => void | Promise<void>) | undefined;
}

/** A chain's node, as far as `send` talks to one. */
export async function stubNode(
  fate: Fate,
  { chainId = 31337, onAsked }: StubNodeOptions = {},
): Promise<StubNode> {
  const given: string[] = [];
  const asked: string[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then(async (body) => {
      const calls = [JSON.parse(body)].flat() as Asked[];
      asked.push(...calls.map(({ method }) => method));
      const raw = calls.find(({ method }) => method === "eth_sendRawTransaction")?.params[0];
      if (raw !== undefined) given.push(keccak256(raw));
      for (const { method } of calls) await onAsked?.(method);
      if (raw !== undefined && fate === "dropped after") return void request.socket.destroy();
      answer(
        response,
        calls.map((call) => ({ jsonrpc: "2.0", id: call.id, ...answerTo(call, { fate, chainId, given }) })),
      );
    });
  });
  return { ...(await listen(server)), given, asked };
}

function answerTo(
  { method, params }: Asked,
  { fate, chainId, given }: { fate: Fate; chainId: number; given: string[] },
): { result: unknown } | { error: Refusal } {
  const refused = typeof fate === "object" ? fate : undefined;
  switch (method) {
    case "eth_sendRawTransaction":
      if (Transaction.from(params[0]).chainId !== BigInt(chainId))
        return { error: { code: -32000, message: "invalid chain id for signer" } };
      return refused ? { error: refused.refusal } : { result: given.at(-1) };
    case "eth_getTransactionByHash":
      return { result: refused?.isKnown ? { hash: given.at(-1) } : null };
    case "eth_chainId":
      return { result: `0x${chainId.toString(16)}` };
    case "eth_call":
      return { result: tokenDomain(chainId) };
    case "eth_getBlockByNumber":
      return { result: block() };
    case "eth_getTransactionCount":
    case "eth_estimateGas":
    case "eth_gasPrice":
    case "eth_maxPriorityFeePerGas":
      return { result: "0x5208" };
    default:
      return { error: { code: -32601, message: "This node does not know that." } };
  }
}

/** The EIP-712 domain of the token, the only contract data that is read. */
function tokenDomain(chainId: number): string {
  const types = new Interface([
    "function eip712Domain() view returns (bytes1, string, string, uint256, address, bytes32, uint256[])",
  ]);
  const domain = ["0x0f", "Won", "1", chainId, ADDRESS, `0x${"00".repeat(32)}`, []];
  return types.encodeFunctionResult("eip712Domain", domain);
}

function block() {
  const zero = `0x${"00".repeat(32)}`;
  const numbers = { number: "0x1", timestamp: "0x6967d000", gasLimit: "0x1c9c380", gasUsed: "0x0" };
  const fees = { baseFeePerGas: "0x7", difficulty: "0x0", nonce: "0x0000000000000000" };
  return {
    ...numbers,
    ...fees,
    hash: zero,
    parentHash: zero,
    miner: ADDRESS,
    extraData: "0x",
    transactions: [],
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function answer(response: ServerResponse, answers: object[]): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(answers.length === 1 ? answers[0] : answers));
}
