import { Transaction } from "ethers";
import { type Database, type Queryable } from "@wonrail/kit/db";
import { Counter } from "@wonrail/kit/metrics";
import { testLog, testRegistry } from "@wonrail/kit/testing";
import { tokenAbi } from "../evm/contracts";
import { type ChainLog, type LogFilter } from "../evm/logs";
import { type Block, type Provider, type Receipt } from "../evm/provider";
import { RpcRefusal } from "../evm/rpc";
import { createSigner, type Signer } from "../evm/signer";
import { createScanSpan } from "../indexer/domain/scanSpan";
import { createGauges } from "../metrics/gauges";
import { saveCursor } from "../indexer/store/scanCursor";
import { type DispatchDeps } from "../settlement/commands/dispatch";
import { type ExpireDeps } from "../settlement/commands/expireHolds";
import { consumeFacts } from "../facts";
import { type WatchDeps } from "../sender/commands/watchTransactions";
import { releaseOperations } from "../settlement/commands/releaseOperations";
import { type ScanDeps } from "../indexer/commands/scanFinalized";

/** A fake chain with the test's content. Like usual nodes it lacks the states of older blocks. */
export interface ChainDouble {
  latest: bigint;
  final: bigint;
  /** Blocks from this one on were replaced. */
  replacedFrom: bigint | null;
  baseFeeWei: bigint;
  tipWei: bigint;
  /** Balance of every account. */
  balanceWei: bigint;
  /** By address; default 0. */
  nonces: Map<string, bigint>;
  /** By transaction hash. */
  receipts: Map<string, Receipt>;
  logs: ChainLog[];
  /** Limit of blocks per question for logs. */
  mostBlocks: bigint;
  /** Error for a larger question. */
  tooMuch: Error;
  /** Answer to signed bytes; null accepts them. */
  refusal: string | null;
  /** Revert data of a call with these bytes; null accepts it. */
  refusedCall: (data: string) => string | null;
  /** Units that the payment manager may still mint, in all and today. */
  mintableUnits: bigint;
  /** Gas estimate for an empty call. */
  noopGas: bigint;
  /** Units of the token that every account has. */
  tokenUnits: bigint;
  /** Accounts on the token's blocklist, in lower case. */
  blocked: Set<string>;
  /** Answer to bytes above this cost. */
  dearest: { costWei: bigint; refusal: string } | null;
  /** Every signed transaction that was handed over, in hex. */
  sent: string[];
  /** The questions for nonces, as "address block". */
  asked: string[];
  /** Transaction hashes whose receipts were requested. */
  looked: string[];
  provider: Provider;
}

const STATES_KEPT = 128n;

export function createChainDouble(): ChainDouble {
  const chain: ChainDouble = {
    ...{
      latest: 1_100n,
      final: 1_000n,
      replacedFrom: null,
      baseFeeWei: 1_000n,
      tipWei: 1n,
      balanceWei: 10n ** 24n,
    },
    ...{ nonces: new Map(), receipts: new Map(), logs: [] },
    ...{ mostBlocks: 10_000n, tooMuch: new RpcRefusal(-32005, "block range is too wide") },
    ...{ refusal: null, refusedCall: () => null, dearest: null },
    ...{ mintableUnits: 10n ** 24n, blocked: new Set(), tokenUnits: 0n, noopGas: 21_000n },
    ...{ sent: [], asked: [], looked: [] },
    provider: {
      checkChain: () => Promise.resolve(),
      latestBlock: () => Promise.resolve(blockOf(chain, chain.latest)),
      finalBlock: () => Promise.resolve(blockOf(chain, chain.final)),
      block: (number) => Promise.resolve(blockOf(chain, number)),
      logs: async (filter) => logsOf(chain, filter),
      receipts: async (hashes) => {
        chain.looked.push(...hashes);
        return new Map([...chain.receipts].filter(([txHash]) => hashes.includes(txHash)));
      },
      transferReceipts: () => Promise.reject(new Error("the double has no transfers")),
      nonce: async (address, at) => {
        chain.asked.push(`${address} ${at}`);
        if (typeof at === "bigint") needState(chain, at);
        return chain.nonces.get(address) ?? 0n;
      },
      estimateGas: () => Promise.resolve(chain.noopGas),
      balance: () => Promise.resolve(chain.balanceWei),
      callAt: async (_to, data, at) => {
        needState(chain, at);
        const answer = answerOf(chain, data);
        const refusal = answer === undefined ? chain.refusedCall(data) : null;
        if (refusal !== null) throw new RpcRefusal(3, "execution reverted", refusal);
        return answer ?? "0x0";
      },
      callManyAt: async (_to, data, at) => {
        needState(chain, at);
        return data.map((one) => answerOf(chain, one) ?? "0x0");
      },
      priorityFeeWei: () => Promise.resolve(chain.tipWei),
      send: async (raw) => {
        const refusal = chain.refusal ?? tooDear(chain, raw);
        if (refusal !== null) throw new RpcRefusal(-32000, refusal);
        chain.sent.push(raw);
        return "0x";
      },
    },
  };
  return chain;
}

export function blockHashOf(number: bigint): string {
  return `0x${number.toString(16).padStart(64, "0")}`;
}

function blockOf({ baseFeeWei, replacedFrom }: ChainDouble, number: bigint): Block {
  const time = 2_000_000_000n + number;
  const hashNow = (of: bigint) =>
    blockHashOf(replacedFrom !== null && of >= replacedFrom ? of + 10n ** 9n : of);
  return {
    ...{ number, hash: hashNow(number), parentHash: hashNow(number - 1n), time },
    ...{ baseFeeWei, gasLimit: 30_000_000n },
  };
}

function tooDear({ dearest }: ChainDouble, raw: string): string | null {
  if (dearest === null) return null;
  const { gasLimit, maxFeePerGas } = Transaction.from(raw);
  return gasLimit * maxFeePerGas! > dearest.costWei ? dearest.refusal : null;
}

const MINT_ROOM = ["mintAllowance", "mintableToday"].map((name) => tokenAbi.getFunction(name)!.selector);
const BALANCE_OF = tokenAbi.getFunction("balanceOf")!.selector;
const IS_BLOCKED = tokenAbi.getFunction("isBlocked")!.selector;

/** Answers of the token's views; undefined for every other call. */
function answerOf({ mintableUnits, tokenUnits, blocked }: ChainDouble, data: string): string | undefined {
  if (MINT_ROOM.some((selector) => data.startsWith(selector))) return `0x${mintableUnits.toString(16)}`;
  if (data.startsWith(BALANCE_OF)) return `0x${tokenUnits.toString(16)}`;
  if (data.startsWith(IS_BLOCKED)) return blocked.has(`0x${data.slice(-40).toLowerCase()}`) ? "0x1" : "0x0";
  return undefined;
}

function needState({ latest }: ChainDouble, at: bigint): void {
  if (at < latest - STATES_KEPT) throw new RpcRefusal(-32000, "missing trie node");
}

function logsOf(
  { logs, mostBlocks, tooMuch }: ChainDouble,
  { topics, fromBlock, to }: LogFilter,
): ChainLog[] {
  if (to.number - fromBlock >= mostBlocks) throw tooMuch;
  return logs.filter(
    (log) =>
      log.blockNumber >= fromBlock &&
      log.blockNumber <= to.number &&
      (topics ?? []).every((topic, place) => [topic].flat().includes(log.topics[place]!)),
  );
}

export const OPERATOR = createSigner(`0x${"11".repeat(32)}`);
export const NEXT_OPERATOR = createSigner(`0x${"22".repeat(32)}`);
export const TOKEN = `0x${"3".repeat(40)}`;
export const PAYMENT_MANAGER = `0x${"4".repeat(40)}`;

/** A ledger without entries. */
const EMPTY_LEDGER = {
  listJournal: () => Promise.resolve({ entries: [], lastSequence: 0n }),
  listJournalHeads: () => Promise.resolve({ heads: [] }),
};

/** The relayer's dependencies, without waits. */
export function depsOn(
  db: Database,
  { provider }: ChainDouble,
  signer: Signer = OPERATOR,
): DispatchDeps & WatchDeps & ScanDeps & ExpireDeps {
  const wallet = {
    findWalletsByAddress: () => Promise.resolve({ wallets: [] }),
    getWalletFacts: () => Promise.resolve({ wallets: [] }),
    getLatestAuthorization: () => Promise.resolve({ latestValidBefore: undefined }),
  };
  const registry = testRegistry();
  return {
    ...{ registry, gauges: createGauges(registry, Date.now) },
    ...{ db, provider, signer, log: testLog(), wallet: wallet as never },
    chain: {
      ...{ chainId: 31_337n, network: "WON_TESTNET" },
      ...{ tokenAddress: TOKEN, paymentManagerAddress: PAYMENT_MANAGER },
    },
    onReleased: releaseOperations,
    ledger: EMPTY_LEDGER,
    hasSandbox: true,
    consume: consumeFacts({
      ...{ db, provider, log: testLog(), ledger: EMPTY_LEDGER, hasSandbox: true },
      chain: { network: "WON_TESTNET" },
    }),
    ...{ holdsWalk: { after: null }, signal: new AbortController().signal },
    ...{ startBlock: 0n, scanSpan: createScanSpan(), headsSeen: new Map(), headsBumped: new Map() },
    ...{ holder: "this process", leaseMs: 60_000, maxInFlight: 16, maxSteps: 200, now: Date.now },
    ...{
      feeCapWei: 1_000_000n,
      authorizationLifeSeconds: 1_800n,
      outsideLifeMs: 60_000,
      resendAfterMs: 0,
      replaceAfterMs: 60_000,
    },
    lost: new Counter({
      name: "lost",
      help: "Transactions whose nonce another program used",
      registers: [registry],
    }),
  };
}

/** Marks the double's blocks up to this one as ingested. */
export function cursorAt(db: Queryable, blockNumber: bigint, blockTime = 1n): Promise<void> {
  return saveCursor(db, { blockNumber, blockHash: blockHashOf(blockNumber), blockTime });
}
