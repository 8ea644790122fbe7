import { type Database } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { type Block, encodeIsOperator, findMintRoom, type Provider, type Signer } from "../evm";
import { type Gauges } from "./gauges";
import { findOldestDueSeconds, type ScheduledMetrics } from "../records";
import {
  countPausedQueues,
  countQueued,
  countWalletBlocks,
  findOldestUnminedSeconds,
  listOpenCounts,
} from "../settlement";
import { type Cursor, findCursor } from "../indexer";
import { countPendingTransactions, recordBalance } from "../sender";
import { readGasToday, type X402Metrics } from "../x402";

export interface MeasureDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { tokenAddress: string; paymentManagerAddress: string };
  startBlock: bigint;
  gauges: Gauges;
  scheduled: Pick<ScheduledMetrics, "oldestDue">;
  x402Metrics: Pick<X402Metrics, "gas" | "mostGas">;
}

const BLOCKED_REASONS = ["unreadable", "name_in_use"];

/** Sets the gauges of the relayer's tables, with or without a chain. */
export async function measureOperations({
  db,
  signer,
  gauges,
  scheduled,
  x402Metrics,
}: Omit<MeasureDeps, "provider">): Promise<void> {
  const [counted, queued] = [await listOpenCounts(db), await countQueued(db)];
  const all = queued.count === 0 ? counted : [...counted, { state: "QUEUED", reason: "", ...queued }];
  // These wait for an operator or for the end of a wallet's block, whatever their age.
  const open = all.filter(({ state, reason }) => state !== "BLOCKED" && reason !== "AccountBlocked");
  gauges.open.reset();
  // An alert needs the series before the first blocked operation.
  // The alerts name these states, so they exist from the start.
  for (const reason of BLOCKED_REASONS) gauges.open.set({ state: "BLOCKED", reason }, 0);
  gauges.open.set({ state: "PLANNED", reason: "AccountBlocked" }, 0);
  for (const { state, reason, count } of all) gauges.open.set({ state, reason }, count);
  const oldestOf = (those: typeof open) => Math.max(0, ...those.map(({ oldestSeconds }) => oldestSeconds));
  gauges.oldest.set(oldestOf(open));
  gauges.pausedQueues.set(await countPausedQueues(db));
  gauges.oldestPaused.set(Math.max(0, ...open.map(({ pausedSeconds }) => pausedSeconds)));
  const notSigned = open.filter(({ state }) => state !== "IN_FLIGHT");
  gauges.oldestUnmined.set(Math.max(oldestOf(notSigned), await findOldestUnminedSeconds(db)));
  gauges.transactions.set(await countPendingTransactions(db, signer.address));
  const { blocked, unposted } = await countWalletBlocks(db);
  gauges.blockedWallets.set(blocked);
  gauges.unpostedBlocks.set(unposted);
  scheduled.oldestDue.set(await findOldestDueSeconds(db));
  const gas = await readGasToday(db);
  x402Metrics.gas.set(Number(gas.all));
  x402Metrics.mostGas.set(Number(gas.most));
}

/** The same of the chain. */
export async function measureChain(deps: MeasureDeps): Promise<void> {
  const { db, provider, signer, startBlock, gauges } = deps;
  const transactions = await countPendingTransactions(db, signer.address);
  const [head, final, balance, latest, pending] = await Promise.all([
    provider.latestBlock(),
    provider.finalBlock(),
    provider.balance(signer.address),
    provider.nonce(signer.address, "latest"),
    provider.nonce(signer.address, "pending"),
  ]);
  gauges.head.set(Number(head.number));
  await gauges.reorgs(provider, head);
  gauges.headTime(Number(head.time));
  gauges.balance.set(Number(balance));
  await recordBalance(db, signer.address, balance);
  gauges.nonceGap.set(Math.max(0, transactions - Number(pending - latest)));
  const cursor = await findCursor(db);
  gauges.lag.set(Number(head.number - (cursor?.blockNumber ?? 0n)));
  gauges.scanLag.set(scanLagSeconds(final, cursor, startBlock));
  await noteRole(deps, head);
  // Before the contracts exist there is nothing to ask.
  if (final && final.number >= startBlock) await measureMintRoom(deps, final);
}

/** Without its role every transaction would revert. The process continues and reports it. */
async function noteRole({ provider, signer, chain, gauges, log }: MeasureDeps, head: Block): Promise<void> {
  const manager = chain.paymentManagerAddress;
  const held = BigInt(await provider.callAt(manager, encodeIsOperator(signer.address), head.number)) !== 0n;
  gauges.roleMissing.set(held ? 0 : 1);
  if (!held)
    log.error({ signer: signer.address, manager }, "the operator's key may not settle: grant it the role");
}

async function measureMintRoom({ provider, chain, gauges }: MeasureDeps, final: Block): Promise<void> {
  const { allowance, today } = await findMintRoom(provider, chain, final.number);
  gauges.mintAllowance.set(Number(allowance / TOKEN_UNITS_PER_WON));
  gauges.mintableToday.set(Number(today / TOKEN_UNITS_PER_WON));
}

/**
 * Before the first scan, the lag is infinite. A final block far before the ingested one belongs to
 * another chain.
 */
function scanLagSeconds(final: Block | null, cursor: Cursor | undefined, startBlock: bigint): number {
  if (!final || (!cursor && final.number < startBlock)) return 0;
  return Math.abs(Number(final.time - (cursor?.blockTime ?? 0n)));
}
