import { chunksOf } from "@wonrail/kit/chunksOf";
import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { groupBy } from "@wonrail/kit/groupBy";
import { type ChainEvent, decodeLog, placeOf, type Speakers, TOPICS } from "../../evm/contracts";
import { type Block, type Provider, type Receipt } from "../../evm/provider";
import { type Movement } from "../../settlement/domain/movement";
import { type ScanSpan } from "../domain/scanSpan";
import { type CancelledAuthorization, saveCancelledAuthorizations } from "../store/cancelledAuthorizations";
import { findByOperationIds, listInFlightOf } from "../../settlement/store/operations";
import { listPaymentManagers } from "../store/paymentManagers";
import {
  beginCursor,
  type Cursor,
  findCursor,
  findFurthest,
  hasFoundNothing,
  lockCursor,
  saveCursor,
} from "../store/scanCursor";
import {
  type ChainTransaction,
  hashesOf,
  listBusySigners,
  listOpenTransactions,
  markTransaction,
} from "../../sender/store/transactions";
import { findLastShelved } from "../../settlement/store/shelf";
import { saveUsedAuthorizations, type UsedAuthorization } from "../store/usedAuthorizations";
import { type WalletAddress } from "../store/walletAddresses";
import { applyDeposits } from "../../deposits/commands/applyDeposits";
import { applyNotCarried, applyOutcomes, isOutcome } from "../../settlement/commands/applyOutcomes";
import { assertCanonical, type CanonicalDeps, finalBlockAt } from "./assertCanonical";
import { findFirstExecutions } from "./findFirstExecutions";
import { learnOwners } from "./resolveWalletsByAddress";
import { type WalletClient } from "../../settlement/commands/resolveAddresses";
import { clearShelf, type ShelfDeps } from "../../settlement/commands/takeOffShelf";

export interface ScanDeps extends CanonicalDeps, ShelfDeps {
  db: Database;
  provider: Provider;
  wallet: WalletClient;
  chain: { tokenAddress: string; network: string };
  /** Where our contracts begin: nothing before it concerns us. */
  startBlock: bigint;
  scanSpan: ScanSpan;
  /** Ends a long search with its reason; nothing of those blocks is taken in then. */
  signal: AbortSignal;
}

/** A run of final blocks, with everything in it that our contracts have said. */
export interface FinalRange {
  fromBlock: bigint;
  to: Block;
  events: ChainEvent[];
  /** Our wallets among the addresses that occur, by address in lower case. */
  owners: Map<string, WalletAddress>;
  /** The event that settled each operation which was repeated in these blocks. */
  firsts: Map<string, ChainEvent>;
  /** What was moved by each operation that was executed, in these blocks or first, by the place of its event. */
  movements: Map<string, Movement[]>;
  /** Gas of each transaction that carried operations of ours, by hash. */
  gasUsed: Map<string, bigint>;
  /** Transactions of ours that are in a final block now, and whether they went through. */
  mined: { transactionId: bigint; succeeded: boolean }[];
  network: string;
}

const MINED_AT_ONCE = 8;

/** R5, R6: takes in the next run of final blocks, all of it in one transaction with the cursor. True when there is more. */
export async function scanFinalized(deps: ScanDeps): Promise<boolean> {
  const { db, provider, chain, scanSpan } = deps;
  const [cursor, furthest] = [await findCursor(db), await findFurthest(db)];
  const final = await provider.finalBlock();
  const fromBlock = await nextBlock(deps, cursor);
  // A final block that lies before what was taken in says nothing yet; how far it does is measured.
  if (!final || (furthest && final.number < furthest.blockNumber)) return false;
  // Also while nothing new is final.
  if (furthest) await assertCanonical(deps, furthest, final);
  if (final.number < fromBlock) return false;

  const last = fromBlock + scanSpan.blocks - 1n;
  const to = last < final.number ? await finalBlockAt(provider, last) : final;
  // Asked for when the last of these blocks is there: who speaks in them was taken into use before.
  const speakers = { tokenAddress: chain.tokenAddress, paymentManagers: await listPaymentManagers(db) };
  const range = await readRange(deps, speakers, fromBlock, to).catch((error: unknown) => {
    scanSpan.failed();
    throw error;
  });
  scanSpan.tookIn(range.events.length);
  // What was read may be of another branch than the block before it was when that was looked at.
  if (furthest) await assertCanonical(deps, furthest);
  await knowWhatWasDone(deps, range);
  await failpoint("relayer.r5");
  await tx(db, async (tx) => {
    const locked = await lockCursor(tx);
    // Another replica was faster; what it took in is taken in.
    if (locked?.blockNumber !== cursor?.blockNumber) return;
    const reached = { blockNumber: to.number, blockHash: to.hash, blockTime: to.time };
    if (!locked && !(await beginCursor(tx, reached))) return;
    await applyRange(tx, range);
    await saveCursor(tx, reached);
    await failpoint("relayer.r6");
  });
  return to.number < final.number;
}

/** While nothing of ours was in any block, START_BLOCK may still be given: an install without it would read a chain from its beginning. */
async function nextBlock({ db, startBlock }: ScanDeps, cursor: Cursor | undefined): Promise<bigint> {
  if (!cursor) return startBlock;
  const next = cursor.blockNumber + 1n;
  return next < startBlock && (await hasFoundNothing(db)) ? startBlock : next;
}

/** Everything that has to be asked of others, before any lock is taken. */
async function readRange(
  deps: ScanDeps,
  speakers: Speakers,
  fromBlock: bigint,
  to: Block,
): Promise<FinalRange> {
  const { provider, chain } = deps;
  const events = await readEvents(deps, speakers, fromBlock, to);
  const firsts = await findFirstExecutions({ ...deps, speakers }, events, { fromBlock, to });
  const all = [...events, ...(await readElsewhere(deps, speakers, [...firsts.values()], { fromBlock, to }))];
  const executed = [...events, ...firsts.values()].filter(({ kind }) => kind === "executed");
  const receipts = await provider.receipts([...new Set(executed.map(({ log }) => log.txHash))]);
  return {
    fromBlock,
    to,
    events,
    owners: await learnOwners(deps, all),
    firsts,
    movements: movementsOf(all),
    gasUsed: new Map([...receipts].map(([txHash, { gasUsed }]) => [txHash, gasUsed])),
    mined: await findMined(deps, to),
    network: chain.network,
  };
}

/** What our contracts have said there, but for what nobody here asks about: anybody may approve of anything, twenty thousand times in a block. */
async function readEvents(
  { provider }: Pick<ScanDeps, "provider">,
  speakers: Speakers,
  fromBlock: bigint,
  to: Block,
): Promise<ChainEvent[]> {
  const addresses = [speakers.tokenAddress, ...speakers.paymentManagers];
  const logs = await provider.logs({ addresses, topics: [Object.values(TOPICS)], fromBlock, to });
  return logs.flatMap((log) => decodeLog(log, speakers) ?? []);
}

/** Everything in the blocks of these events that are not read anyway: an event alone does not say what was done. */
async function readElsewhere(
  { provider }: ScanDeps,
  speakers: Speakers,
  events: ChainEvent[],
  read: { fromBlock: bigint; to: Block },
): Promise<ChainEvent[]> {
  const numbers = events.map(({ log }) => log.blockNumber);
  const elsewhere = [...new Set(numbers)].filter(
    (number) => number < read.fromBlock || number > read.to.number,
  );
  const found: ChainEvent[] = [];
  for (const at of elsewhere)
    found.push(...(await readEvents({ provider }, speakers, at, await finalBlockAt(provider, at))));
  return found;
}

/** The payment manager speaks after each operation: what the token has moved since it spoke last in that transaction is that operation's. */
function movementsOf(events: ChainEvent[]): Map<string, Movement[]> {
  const movements = new Map<string, Movement[]>();
  for (const said of groupBy(events, ({ log }) => log.txHash).values()) {
    let moved: Movement[] = [];
    for (const event of said.toSorted((one, other) => one.log.logIndex - other.log.logIndex)) {
      if (event.kind === "transfer") moved.push(event);
      if (!isOutcome(event)) continue;
      movements.set(placeOf(event), moved);
      moved = [];
    }
  }
  return movements;
}

/** Of every signer that has something under way: what a key has signed is in the chain although the next key has its place here. */
async function findMined({ db, provider }: ScanDeps, to: Block): Promise<FinalRange["mined"]> {
  const mined: FinalRange["mined"] = [];
  for (const signer of await listBusySigners(db)) {
    // It only leaves out what is in no block; which block it is in says the receipt. The nonce as of this block would be a state that a usual node
    // has forgotten once the scan is some hundred blocks behind.
    const latestNonce = await provider.nonce(signer, "latest");
    const used = (await listOpenTransactions(db, signer)).filter(({ nonce }) => nonce < latestNonce);
    mined.push(...(await minedUpTo(provider, used, to)));
  }
  return mined;
}

/** In small parts, since where finality is late hundreds are mined and few of them final. They are mined in the order of their nonces. */
async function minedUpTo(
  provider: Provider,
  used: ChainTransaction[],
  to: Block,
): Promise<FinalRange["mined"]> {
  const mined: FinalRange["mined"] = [];
  for (const part of chunksOf(used, MINED_AT_ONCE)) {
    const receipts = await provider.receipts(hashesOf(part));
    for (const { transactionId, versions } of part) {
      const receipt = versions.flatMap(({ txHash }) => receipts.get(txHash) ?? [])[0];
      if (!receipt) continue;
      if (receipt.blockNumber > to.number) return mined;
      if (await isThere(provider, receipt)) mined.push({ transactionId, succeeded: receipt.succeeded });
    }
  }
  return mined;
}

/**
 * A node that is behind may still have the receipt of a block that is no longer there. What counts as final is never sent again: its nonce would stay free,
 * and everything behind it wait for ever.
 */
async function isThere(provider: Provider, { blockNumber, blockHash }: Receipt): Promise<boolean> {
  return (await provider.block(blockNumber))?.hash === blockHash;
}

async function applyRange(tx: Tx, range: FinalRange): Promise<void> {
  await saveUsedAuthorizations(tx, usedByOurWallets(range));
  await saveCancelledAuthorizations(tx, cancelledByOurWallets(range));
  const operations = await findByOperationIds(tx, [
    ...new Set(range.events.flatMap((event) => (isOutcome(event) ? [event.operationId] : []))),
  ]);
  const strangers = await applyOutcomes(tx, range, operations);
  // Whoever has only the name of what was executed has ordered nothing of it.
  for (const operationId of strangers) operations.delete(operationId);
  await applyDeposits(tx, range, operations);
  for (const { transactionId, succeeded } of range.mined) {
    await markTransaction(tx, transactionId, "FINAL");
    // Its block is taken in, so whatever it has settled is no longer in flight.
    await applyNotCarried(tx, await listInFlightOf(tx, transactionId), succeeded);
  }
}

/** After a restore the chain may have done what is on the shelf, from before it came there. */
async function knowWhatWasDone(deps: ScanDeps, { events }: FinalRange): Promise<void> {
  const { db } = deps;
  const done = events.flatMap((event) => (isOutcome(event) ? [event.operationId] : []));
  if (done.length === 0 || (await findLastShelved(db)) === null) return;
  const known = await findByOperationIds(db, done);
  if (done.some((operationId) => !known.has(operationId))) await clearShelf(deps);
}

function usedByOurWallets({ events, owners }: FinalRange): UsedAuthorization[] {
  const transfers = new Map(
    events.flatMap((event) => (event.kind === "transfer" ? [[placeOf(event), event] as const] : [])),
  );
  return events.flatMap((event) => {
    if (event.kind !== "used") return [];
    const owner = owners.get(event.authorizer);
    if (!owner) return [];
    const { txHash, blockNumber, blockHash } = event.log;
    // The token says who authorized right before it says what moved.
    const moved = transfers.get(placeOf(event, 1)) ?? null;
    return [{ fromWalletId: owner.walletId, nonce: event.nonce, txHash, blockNumber, blockHash, moved }];
  });
}

function cancelledByOurWallets({ events, owners }: FinalRange): CancelledAuthorization[] {
  return events.flatMap((event) => {
    const owner = event.kind === "canceled" ? owners.get(event.authorizer) : undefined;
    if (event.kind !== "canceled" || !owner) return [];
    const { txHash, blockNumber, blockHash } = event.log;
    return [{ fromWalletId: owner.walletId, nonce: event.nonce, txHash, blockNumber, blockHash }];
  });
}
