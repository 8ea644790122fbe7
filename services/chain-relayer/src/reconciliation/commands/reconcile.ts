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
import { countUnbooked } from "../../deposits";
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
 * Compares the books: on a final block what every wallet holds on the chain with what was taken in, and the supply; then every wallet's balance in
 * the ledger with what is settled and on its way. A difference is written down, and stops the money of the wallet it concerns; where there is none
 * any more, that is written down too, so that the next one is a new one. While an operator has blocks taken in again the chain is not compared, and no
 * comparison is complete. Of many wallets it takes longer than a process has to end, so it ends between two parts.
 */
export async function reconcile(deps: ReconcileDeps, signal: AbortSignal): Promise<void> {
  const { db, log, reconcileGauges: gauges } = deps;
  if (!(await claimReconciliation(db, deps.reconcileEveryMs))) return;
  // Before anything is compared: what another replica finds meanwhile is not for this comparison to judge.
  const openDrifts = await findOpenDrifts(db);
  const supply = await readSupplyBook(db);
  if (!supply) return;
  const { blockNumber } = supply.cursor;
  const { orgIds, wallets, isComplete } = await compareWithChain(deps, supply, openDrifts, signal);
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
    return log.warn(at, "blocks are taken in again: the books were not compared with the chain");
  }
  await finishReconciliation(db, blockNumber);
  log.debug({ wallets, judged, moving }, "books compared");
}

/** Each part by itself, as an operator may go back at any moment. */
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
  for await (const books of readWalletBooks(deps.db)) {
    signal.throwIfAborted();
    if (books.isRewound) isComplete = false;
    else await noteOn(deps, books.cursor, () => compareWallets(deps, books, openDrifts));
    for (const { orgId } of books.wallets) orgIds.add(orgId);
    wallets += books.wallets.length;
  }
  return { orgIds, wallets, isComplete };
}

/**
 * The chain is asked by the block's number. Who answers may be on another chain for a moment, where nobody has anything, and what is written down stops money
 * until somebody has looked: it is judged only while that block is the one that was taken in, before and after.
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

/** What an operator sees of it from outside; of the database, so that every replica shows the same. */
export async function measureBooks({
  db,
  reconcileGauges: gauges,
}: Pick<ReconcileDeps, "db" | "reconcileGauges">): Promise<void> {
  const [drifts, unbooked, { finishedAt }] = await Promise.all([
    countOpenDrifts(db),
    countUnbooked(db),
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
