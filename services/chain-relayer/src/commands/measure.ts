import { type Database } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { Gauge, type Registry } from "@wonrail/kit/metrics";
import { TOKEN_UNITS_PER_WON } from "@wonrail/kit/money";
import { encodeIsOperator, encodeMintAllowance } from "../chain/contracts";
import { type Block, type Provider } from "../chain/provider";
import { createReorgWatch } from "../chain/reorgs";
import { type Signer } from "../chain/signer";
import { findOldestDueSeconds } from "../store/records";
import { type Cursor, findCursor } from "../store/scanCursor";
import { findOldestUnminedSeconds, listOpenCounts } from "../store/stories";
import { countPendingTransactions } from "../store/transactions";
import { type ScheduledMetrics } from "./scheduledMetrics";

export type Gauges = ReturnType<typeof createGauges>;

export function createGauges(registry: Registry, now: () => number) {
  const registers = [registry];
  return {
    reorgs: createReorgWatch(registry),
    roleMissing: new Gauge({
      name: "operator_role_missing",
      help: "1 while the operator's key may not call the payment manager; 0 otherwise",
      registers,
    }),
    replaced: new Gauge({
      name: "chain_final_block_replaced",
      help: "1 when the last block that was taken in is no longer the chain's, and nothing more is taken in; 0 otherwise",
      registers,
    }),
    head: unknownYet(new Gauge({ name: "chain_head_block", help: "The newest block", registers })),
    headTime: createHeadAge(registry, now),
    lag: unknownYet(
      new Gauge({
        name: "chain_confirmed_lag_blocks",
        help: "Blocks between the newest and the last one taken in",
        registers,
      }),
    ),
    scanLag: unknownYet(
      new Gauge({
        name: "chain_scan_lag_seconds",
        help: "Between the newest final block and the last one taken in",
        registers,
      }),
    ),
    balance: unknownYet(
      new Gauge({
        name: "hot_wallet_balance_wei",
        help: "What the operator has left for gas",
        registers,
      }),
    ),
    mintAllowance: createMintAllowance(registry),
    nonceGap: unknownYet(
      new Gauge({
        name: "nonce_gap",
        help: "Transactions that the chain's pending count does not know of",
        registers,
      }),
    ),
    transactions: new Gauge({ name: "tx_pending", help: "Transactions under way", registers }),
    oldest: new Gauge({
      name: "relay_pending_oldest_seconds",
      help: "Age of the oldest operation that is not final",
      registers,
    }),
    oldestUnmined: new Gauge({
      name: "relay_unmined_oldest_seconds",
      help: "Age of the oldest operation that is in no block",
      registers,
    }),
    open: new Gauge({
      name: "relay_open_operations",
      help: "Operations that are not final, by state and by what they wait for",
      labelNames: ["state", "reason"],
      registers,
    }),
  };
}

function createMintAllowance(registry: Registry): Gauge {
  return unknownYet(
    new Gauge({
      name: "mint_allowance_won",
      help: "What the payment manager may still mint, in the newest final block; absent until it is known",
      registers: [registry],
    }),
  );
}

/** It would begin with 0, which is an alarm, or says that all is well before anybody knows. */
function unknownYet(gauge: Gauge): Gauge {
  gauge.remove();
  return gauge;
}

/**
 * Told when the newest block was made. Its age grows while the endpoints answer nothing, so it is reckoned when it is read; before the
 * first block, from the process's start.
 */
function createHeadAge(registry: Registry, now: () => number): (seconds: number) => void {
  let headAt = now() / 1000;
  new Gauge({
    name: "chain_head_age_seconds",
    help: "Age of the newest block",
    registers: [registry],
    collect() {
      this.set(now() / 1000 - headAt);
    },
  });
  return (seconds) => void (headAt = seconds);
}

export interface MeasureDeps {
  db: Database;
  log: Log;
  provider: Provider;
  signer: Signer;
  chain: { tokenAddress: string; paymentManagerAddress: string };
  startBlock: bigint;
  gauges: Gauges;
  scheduled: Pick<ScheduledMetrics, "oldestDue">;
}

/** What an operator sees of the relayer from outside: of its own tables, whether there is a chain or not. */
export async function measureOperations({
  db,
  signer,
  gauges,
  scheduled,
}: Omit<MeasureDeps, "provider">): Promise<void> {
  const open = await listOpenCounts(db);
  gauges.open.reset();
  for (const { state, reason, count } of open) gauges.open.set({ state, reason }, count);
  const oldestOf = (those: typeof open) => Math.max(0, ...those.map(({ oldestSeconds }) => oldestSeconds));
  gauges.oldest.set(oldestOf(open));
  const notSigned = open.filter(({ state }) => state !== "IN_FLIGHT");
  gauges.oldestUnmined.set(Math.max(oldestOf(notSigned), await findOldestUnminedSeconds(db)));
  gauges.transactions.set(await countPendingTransactions(db, signer.address));
  scheduled.oldestDue.set(await findOldestDueSeconds(db));
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
  gauges.nonceGap.set(Math.max(0, transactions - Number(pending - latest)));
  const cursor = await findCursor(db);
  gauges.lag.set(Number(head.number - (cursor?.blockNumber ?? 0n)));
  gauges.scanLag.set(scanLagSeconds(final, cursor, startBlock));
  await noteRole(deps, head);
  // Before the contracts are there, nobody is asked.
  if (final && final.number >= startBlock) await noteMintAllowance(deps, final);
}

/** Without the role every transaction would be for nothing. Nobody is served better by a process that ends. */
async function noteRole({ provider, signer, chain, gauges, log }: MeasureDeps, head: Block): Promise<void> {
  const manager = chain.paymentManagerAddress;
  const held = BigInt(await provider.callAt(manager, encodeIsOperator(signer.address), head.number)) !== 0n;
  gauges.roleMissing.set(held ? 0 : 1);
  if (!held)
    log.error({ signer: signer.address, manager }, "the operator's key may not settle: grant it the role");
}

async function noteMintAllowance({ provider, chain, gauges }: MeasureDeps, final: Block): Promise<void> {
  const call = encodeMintAllowance(chain.paymentManagerAddress);
  const units = BigInt(await provider.callAt(chain.tokenAddress, call, final.number));
  gauges.mintAllowance.set(Number(units / TOKEN_UNITS_PER_WON));
}

/** Before the scan has begun, since ever. Either way: a final block long before what was taken in is of another chain. */
function scanLagSeconds(final: Block | null, cursor: Cursor | undefined, startBlock: bigint): number {
  if (!final || (!cursor && final.number < startBlock)) return 0;
  return Math.abs(Number(final.time - (cursor?.blockTime ?? 0n)));
}
