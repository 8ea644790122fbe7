import { type Database } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { TOKEN_UNITS_PER_WON } from "@wonrail/kit/contract/money";
import { type Provider } from "../../evm";
import { assertCanonical, type CanonicalDeps, type Cursor } from "../../indexer";
import { type ReconcileGauges } from "../reconcileGauges";
import { compareSupply, compareWallets } from "../queries/compareChain";
import { compareLedger, type LedgerReader } from "../queries/compareLedger";
import { type Findings } from "../queries/findings";
import { readSupplyBook, readWalletBooks, type SupplyBook } from "../queries/readBooks";
import { countOpenDrifts, findOpenDrifts, resolveDrifts, saveDrifts } from "../store/drifts";
import { countUncreditedDeposits } from "../../deposits";
import { claimReconciliation, findReconciliation, finishReconciliation } from "../store/reconciliation";

export interface ReconcileDeps extends CanonicalDeps {
  db: Database;
  log: Log;
  provider: Pick<Provider, "callAt" | "callManyAt" | "block">;
  ledger: LedgerReader;
  chain: { tokenAddress: string };
  reconcileEveryMs: number;
  reconcileGauges: ReconcileGauges;
}

/**
 * Compares, at a final block, each wallet's chain balance and the supply with the ingested
 * movements; then each ledger balance with settled and open operations. A difference is stored and
 * stops the wallet's outflow. Agreement resolves it, so that a later difference is new. During a
 * rescan the chain is not compared and no comparison is complete. With many wallets a comparison
 * outlasts a shutdown, so it may end between two parts.
 */
export async function reconcile(deps: ReconcileDeps, signal: AbortSignal): Promise<void> {
  const { db, log, reconcileGauges: gauges } = deps;
  if (!(await claimReconciliation(db, deps.reconcileEveryMs))) return;
  // Read first: another replica's later drifts are not for this comparison to resolve.
  const openDrifts = await findOpenDrifts(db);
  const supply = await readSupplyBook(db);
  if (!supply) return;
  const { blockNumber } = supply.cursor;
  const { orgIds, wallets, walletUnits, isComplete } = await compareWithChain(
    deps,
    supply,
    openDrifts,
    signal,
  );
  let judged = 0;
  let moving = 0;
  for (const orgId of orgIds) {
    const compared = await compareLedger({ ...deps, signal }, orgId, blockNumber, openDrifts);
    await note(deps, compared);
    judged += compared.judged;
    moving += compared.moving;
  }
  gauges.wallets.set({ state: "compared" }, judged);
  gauges.wallets.set({ state: "moving" }, moving);
  if (!isComplete) {
    const at = { blockNumber: blockNumber.toString() };
    return log.warn(at, "a rescan is under way: the books were not compared with the chain");
  }
  await finishReconciliation(db, { blockNumber, supplyUnits: supply.supplyUnits, walletUnits });
  log.debug({ wallets, judged, moving }, "books compared");
}

/** Each part separately, because a rescan may start at any time. */
async function compareWithChain(
  deps: ReconcileDeps,
  supply: SupplyBook,
  openDrifts: ReadonlySet<string>,
  signal: AbortSignal,
) {
  let isComplete = !supply.isRewound;
  if (!supply.isRewound) await noteOn(deps, supply.cursor, () => compareSupply(deps, supply, openDrifts));
  const orgIds = new Set<string>();
  let wallets = 0;
  let walletUnits = 0n;
  for await (const books of readWalletBooks(deps.db)) {
    signal.throwIfAborted();
    if (books.isRewound) isComplete = false;
    else await noteOn(deps, books.cursor, () => compareWallets(deps, books, openDrifts));
    for (const { orgId, units } of books.wallets) {
      orgIds.add(orgId);
      walletUnits += units;
    }
    wallets += books.wallets.length;
  }
  return { orgIds, wallets, walletUnits, isComplete };
}

/**
 * The chain is asked by block number. An endpoint may be on another chain for a moment, and a false
 * drift would stop money. So results count only if that block equals the ingested one before and
 * after.
 */
async function noteOn(deps: ReconcileDeps, block: Cursor, compare: () => Promise<Findings>): Promise<void> {
  await assertCanonical(deps, block);
  const findings = await compare();
  await assertCanonical(deps, block);
  await note(deps, findings);
}

async function note({ db, log }: ReconcileDeps, { drifts, resolved }: Findings): Promise<void> {
  await resolveDrifts(db, resolved);
  for (const drift of await saveDrifts(db, drifts)) {
    const { orgId, walletId, kind, expected, actual } = drift;
    log.error(
      { orgId, walletId, kind, expected: expected.toString(), actual: actual.toString() },
      "the books differ",
    );
  }
}

/** Sets the operators' gauges from the database, so that every replica shows the same. */
export async function measureBooks({
  db,
  reconcileGauges: gauges,
}: Pick<ReconcileDeps, "db" | "reconcileGauges">): Promise<void> {
  const [drifts, unbooked, { finishedAt }] = await Promise.all([
    countOpenDrifts(db),
    countUncreditedDeposits(db),
    findReconciliation(db),
  ]);
  gauges.drift.reset();
  gauges.drifts.reset();
  for (const { kind, count, units } of drifts) {
    gauges.drifts.set({ kind }, count);
    gauges.drift.set({ kind }, Number(units) / Number(TOKEN_UNITS_PER_WON));
  }
  gauges.deposits.set({ state: "seen" }, unbooked.seen);
  gauges.deposits.set({ state: "dust" }, unbooked.dust);
  gauges.deposits.set({ state: "too_large" }, unbooked.tooLarge);
  gauges.oldestDeposit.set(unbooked.oldestSeenSeconds);
  gauges.remainder.set(Number(unbooked.remainderUnits));
  if (finishedAt) gauges.lastSuccess.set(finishedAt.getTime() / 1000);
}
