import { id } from "ethers";
import { type World } from "./world";

/** Facts of the chain itself, read from its first block without the relayer. */
export interface ChainTruth {
  /** Token units, by address in lower case. */
  balances: Map<string, bigint>;
  supplyUnits: bigint;
  /** Number of executions per operation id in hex. More than one is a double payment. */
  executions: Map<string, number>;
  /** How often each authorization was used, by "address|nonce". */
  authorizations: Map<string, number>;
  failures: number;
  repeats: number;
}

interface RawLog {
  address: string;
  topics: string[];
  data: string;
}

const EXECUTED = id("OperationExecuted(bytes32)");
const REPEATED = id("OperationRepeated(bytes32)");
const FAILED = id("OperationFailed(bytes32,bytes)");
const USED = id("AuthorizationUsed(address,bytes32)");
const TRANSFER = id("Transfer(address,address,uint256)");
const NOBODY = `0x${"0".repeat(40)}`;

export async function readChain({ node, contracts }: Pick<World, "node" | "contracts">): Promise<ChainTruth> {
  const address = [contracts.tokenAddress, contracts.paymentManagerAddress];
  const logs = await node.rpc<RawLog[]>("eth_getLogs", [{ address, fromBlock: "0x0", toBlock: "latest" }]);
  const truth: ChainTruth = {
    balances: new Map(),
    supplyUnits: 0n,
    executions: new Map(),
    authorizations: new Map(),
    failures: 0,
    repeats: 0,
  };
  for (const log of logs) read(truth, log);
  return truth;
}

function read(truth: ChainTruth, { topics, data }: RawLog): void {
  const [topic, first = "", second = ""] = topics;
  if (topic === EXECUTED) count(truth.executions, first.slice(2));
  else if (topic === REPEATED) truth.repeats += 1;
  else if (topic === FAILED) truth.failures += 1;
  else if (topic === USED) count(truth.authorizations, `${addressIn(first)}|${second.slice(2)}`);
  else if (topic === TRANSFER) move(truth, addressIn(first), addressIn(second), BigInt(data));
}

function move(truth: ChainTruth, from: string, to: string, units: bigint): void {
  if (from === NOBODY) truth.supplyUnits += units;
  else truth.balances.set(from, (truth.balances.get(from) ?? 0n) - units);
  if (to === NOBODY) truth.supplyUnits -= units;
  else truth.balances.set(to, (truth.balances.get(to) ?? 0n) + units);
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function addressIn(word: string): string {
  return `0x${word.slice(26)}`.toLowerCase();
}
