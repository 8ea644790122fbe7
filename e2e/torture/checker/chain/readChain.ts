import { id } from "ethers";
import { type WorldAccess } from "../access";

/** The chain from its first block, as its node tells it. */
export interface ChainRecord {
  /** Token units at the newest block, in decimal digits. */
  totalSupply: string;
  /** All logs of the token and the payment manager, oldest first. */
  logs: RawLog[];
  /** The blocks that settlements name as proof, by number; null when the chain has none. */
  blocks: Record<string, Block | null>;
}

interface Block {
  hash: string;
  timeSeconds: number;
}

/** The sums of a chain's logs. */
export interface Chain {
  /** Token units by address in lower case. */
  balances: Map<string, bigint>;
  /** The sum of the parts below a whole KRW that an address received. */
  remainders: Map<string, bigint>;
  /** Minted less burned. */
  minted: bigint;
  totalSupply: bigint;
  /** Number of executions by operation id, 64 hex digits. */
  executions: Map<string, number>;
  /** Used and cancelled authorizations, by "address|nonce". */
  used: Set<string>;
  cancelled: Set<string>;
  transfers: TokenTransfer[];
  blockAt(number: number): Block | null;
}

export interface TokenTransfer {
  from: string;
  to: string;
  units: bigint;
  transactionHash: string;
}

interface RawLog {
  topics: string[];
  data: string;
  transactionHash: string;
}

const TRANSFER = id("Transfer(address,address,uint256)");
const USED = id("AuthorizationUsed(address,bytes32)");
const CANCELLED = id("AuthorizationCanceled(address,bytes32)");
const EXECUTED = id("OperationExecuted(bytes32)");
const TOTAL_SUPPLY = id("totalSupply()").slice(0, 10);
const NOBODY = `0x${"0".repeat(40)}`;
const BLOCKS_PER_QUERY = 2_000;
export const UNITS_PER_WON = 1_000_000n;

export async function readChain(
  { chain: place }: Pick<WorldAccess, "chain">,
  blockNumbers: number[],
): Promise<ChainRecord> {
  const { rpcUrl, tokenAddress, paymentManagerAddress } = place;
  const rpc = <T>(method: string, params: unknown[]) => callRpc<T>(rpcUrl, method, params);
  const head = Number(await rpc<string>("eth_blockNumber", []));
  const supply = await rpc<string>("eth_call", [{ to: tokenAddress, data: TOTAL_SUPPLY }, hex(head)]);
  const record: ChainRecord = { totalSupply: String(BigInt(supply)), logs: [], blocks: {} };
  const address = [tokenAddress, paymentManagerAddress];
  for (let from = 0; from <= head; from += BLOCKS_PER_QUERY) {
    const toBlock = hex(Math.min(head, from + BLOCKS_PER_QUERY - 1));
    const logs = await rpc<RawLog[]>("eth_getLogs", [{ address, fromBlock: hex(from), toBlock }]);
    for (const { topics, data, transactionHash } of logs) record.logs.push({ topics, data, transactionHash });
  }
  for (const number of new Set(blockNumbers)) {
    const block = await rpc<{ hash: string; timestamp: string } | null>("eth_getBlockByNumber", [
      hex(number),
      false,
    ]);
    record.blocks[number] = block && { hash: block.hash, timeSeconds: Number(block.timestamp) };
  }
  return record;
}

export function chainOf({ totalSupply, logs, blocks }: ChainRecord): Chain {
  const chain: Chain = {
    ...{ balances: new Map(), remainders: new Map(), minted: 0n, totalSupply: BigInt(totalSupply) },
    ...{ executions: new Map(), used: new Set(), cancelled: new Set(), transfers: [] },
    blockAt: (number) => blocks[number] ?? null,
  };
  for (const log of logs) addLog(chain, log);
  return chain;
}

function addLog(chain: Chain, { topics, data, transactionHash }: RawLog): void {
  const [topic, first = "", second = ""] = topics;
  if (topic === USED) chain.used.add(authorizationName(addressIn(first), second));
  else if (topic === CANCELLED) chain.cancelled.add(authorizationName(addressIn(first), second));
  else if (topic === EXECUTED) {
    const operation = first.slice(2);
    chain.executions.set(operation, (chain.executions.get(operation) ?? 0) + 1);
  } else if (topic === TRANSFER) {
    const [from, to, units] = [addressIn(first), addressIn(second), BigInt(data)];
    addTransfer(chain, { from, to, units, transactionHash });
  }
}

function addTransfer(chain: Chain, transfer: TokenTransfer): void {
  const { from, to, units } = transfer;
  chain.transfers.push(transfer);
  if (from === NOBODY) chain.minted += units;
  else add(chain.balances, from, -units);
  if (to === NOBODY) chain.minted -= units;
  else {
    add(chain.balances, to, units);
    add(chain.remainders, to, units % UNITS_PER_WON);
  }
}

export function authorizationName(address: string, nonce: string): string {
  return `${address.toLowerCase()}|${nonce.replace("0x", "").toLowerCase()}`;
}

function add(sums: Map<string, bigint>, key: string, units: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + units);
}

function addressIn(word: string): string {
  return `0x${word.slice(26)}`.toLowerCase();
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

async function callRpc<T>(url: string, method: string, params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body,
  });
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
  if (error) throw new Error(`${method} failed: ${error.message}`);
  return result;
}
