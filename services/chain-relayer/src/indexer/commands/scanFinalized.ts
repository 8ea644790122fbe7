import { type Database, tx, type Tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { groupBy } from "@wonrail/kit/groupBy";
import {
  type Block,
  type ChainEvent,
  decodeLog,
  isOutcome,
  placeOf,
  type Provider,
  type TokenMovement,
  TOPICS,
  type TrackedContracts,
  type TransferEvent,
} from "../../evm";
import { type ScanSpan } from "../domain/scanSpan";
import { type CancelledAuthorization, saveCancelledAuthorizations } from "../store/cancelledAuthorizations";
import { listPaymentManagers } from "../store/paymentManagers";
import {
  insertCursor,
  type Cursor,
  findCursor,
  findFurthestBlock,
  hasNoIngestedEvents,
  lockCursor,
  saveCursor,
} from "../store/scanCursor";
import { saveUsedAuthorizations, type UsedAuthorization } from "../store/usedAuthorizations";
import { type WalletAddress } from "../store/walletAddresses";
import { assertCanonical, type CanonicalDeps, finalBlockAt } from "./assertCanonical";
import { findFirstExecutions } from "./findFirstExecutions";
import { resolveWalletsByAddress, type WalletClient } from "./resolveWalletsByAddress";

export interface ScanDeps extends CanonicalDeps {
  db: Database;
  provider: Provider;
  wallet: WalletClient;
  chain: { tokenAddress: string };
  /** The block in which our contracts were deployed. */
  startBlock: bigint;
  scanSpan: ScanSpan;
  consume: ConsumeFacts;
  /** Aborts a long search; its blocks are not indexed then. */
  signal: AbortSignal;
}

/**
 * Consumer of a range in another flow. It first reads what it needs, before any lock. The returned
 * function writes in the transaction that moves the cursor.
 */
export type ConsumeFacts = (range: FinalRange) => Promise<(tx: Tx) => Promise<void>>;

/** The facts of a range of final blocks. */
export interface FinalRange {
  fromBlock: bigint;
  to: Block;
  events: ChainEvent[];
  /** Our wallets among the addresses that occur, by address in lower case. */
  owners: Map<string, WalletAddress>;
  /** The event that settled each operation which was repeated in these blocks. */
  firsts: Map<string, ChainEvent>;
  /**
   * Movements of each operation executed in these blocks, or of its first execution, by the event's
   * position.
   */
  movements: Map<string, TokenMovement[]>;
  /** Gas of each transaction that carried operations of ours, by hash. */
  gasUsed: Map<string, bigint>;
}

/** A transfer that moves tokens. A transfer of 0 can be logged in any name. */
export function isMoving(event: ChainEvent): event is TransferEvent {
  return event.kind === "transfer" && event.units > 0n;
}

/**
 * Indexes the next range of final blocks (R5) in one transaction with the cursor (R6). Returns true
 * if there is more.
 */
export async function scanFinalized(deps: ScanDeps): Promise<boolean> {
  const { db, provider, chain, scanSpan } = deps;
  const [cursor, furthest] = [await findCursor(db), await findFurthestBlock(db)];
  const final = await provider.finalBlock();
  const fromBlock = await nextBlock(deps, cursor);
  // A final block before the indexed ones is only a lag, which a gauge measures.
  if (!final || (furthest && final.number < furthest.blockNumber)) return false;
  // Checked also without new final blocks.
  if (furthest) await assertCanonical(deps, furthest, final);
  if (final.number < fromBlock) return false;

  const last = fromBlock + scanSpan.blocks - 1n;
  const to = last < final.number ? await finalBlockAt(provider, last) : final;
  // Read after \`to\` exists: a payment manager that logs in these blocks was adopted before.
  const contracts = { tokenAddress: chain.tokenAddress, paymentManagers: await listPaymentManagers(db) };
  const { range, apply } = await read(deps, contracts, fromBlock, to).catch((error: unknown) => {
    scanSpan.failed();
    throw error;
  });
  scanSpan.tookIn(range.events.length);
  // The answers may be of another branch than the block that was checked above.
  if (furthest) await assertCanonical(deps, furthest);
  await failpoint("relayer.r5");
  await tx(db, async (tx) => {
    const locked = await lockCursor(tx);
    // Another replica was faster and has indexed this range.
    if (locked?.blockNumber !== cursor?.blockNumber) return;
    const reached = { blockNumber: to.number, blockHash: to.hash, blockTime: to.time };
    if (!locked && !(await insertCursor(tx, reached))) return;
    await saveUsedAuthorizations(tx, usedByOurWallets(range));
    await saveCancelledAuthorizations(tx, cancelledByOurWallets(range));
    await apply(tx);
    await saveCursor(tx, reached);
    await failpoint("relayer.r6");
  });
  return to.number < final.number;
}

/** Reads facts of the chain and other services before any lock is taken. */
async function read(deps: ScanDeps, contracts: TrackedContracts, fromBlock: bigint, to: Block) {
  const range = await readRange(deps, contracts, fromBlock, to);
  return { range, apply: await deps.consume(range) };
}

/**
 * While no block held an event of ours, START_BLOCK may still be raised: otherwise an install
 * without it would read the chain from its beginning.
 */
async function nextBlock({ db, startBlock }: ScanDeps, cursor: Cursor | undefined): Promise<bigint> {
  if (!cursor) return startBlock;
  const next = cursor.blockNumber + 1n;
  return next < startBlock && (await hasNoIngestedEvents(db)) ? startBlock : next;
}

async function readRange(
  deps: ScanDeps,
  contracts: TrackedContracts,
  fromBlock: bigint,
  to: Block,
): Promise<FinalRange> {
  const { provider } = deps;
  const events = await readEvents(deps, contracts, fromBlock, to);
  const firsts = await findFirstExecutions({ ...deps, contracts }, events, { fromBlock, to });
  const all = [...events, ...(await readElsewhere(deps, contracts, [...firsts.values()], { fromBlock, to }))];
  const executed = [...events, ...firsts.values()].filter(({ kind }) => kind === "executed");
  const receipts = await provider.receipts([...new Set(executed.map(({ log }) => log.txHash))]);
  return {
    fromBlock,
    to,
    events,
    owners: await resolveWalletsByAddress(deps, all),
    firsts,
    movements: movementsOf(all),
    gasUsed: new Map([...receipts].map(([txHash, { gasUsed }]) => [txHash, gasUsed])),
  };
}

/**
 * The tracked events in these blocks. The topics exclude others: a stranger may log twenty thousand
 * approvals in a block.
 */
async function readEvents(
  { provider }: Pick<ScanDeps, "provider">,
  contracts: TrackedContracts,
  fromBlock: bigint,
  to: Block,
): Promise<ChainEvent[]> {
  const addresses = [contracts.tokenAddress, ...contracts.paymentManagers];
  const logs = await provider.logs({ addresses, topics: [Object.values(TOPICS)], fromBlock, to });
  return logs.flatMap((log) => decodeLog(log, contracts) ?? []);
}

/**
 * All tracked events in the blocks of these events, outside the range, because an event alone lacks
 * its movements.
 */
async function readElsewhere(
  { provider }: ScanDeps,
  contracts: TrackedContracts,
  events: ChainEvent[],
  read: { fromBlock: bigint; to: Block },
): Promise<ChainEvent[]> {
  const numbers = events.map(({ log }) => log.blockNumber);
  const elsewhere = [...new Set(numbers)].filter(
    (number) => number < read.fromBlock || number > read.to.number,
  );
  const found: ChainEvent[] = [];
  for (const at of elsewhere)
    found.push(...(await readEvents({ provider }, contracts, at, await finalBlockAt(provider, at))));
  return found;
}

/**
 * The payment manager logs after each operation: the token's movements since its last log in the
 * transaction belong to that operation.
 */
function movementsOf(events: ChainEvent[]): Map<string, TokenMovement[]> {
  const movements = new Map<string, TokenMovement[]>();
  for (const eventsOfTransaction of groupBy(events, ({ log }) => log.txHash).values()) {
    let moved: TokenMovement[] = [];
    for (const event of eventsOfTransaction.toSorted((one, other) => one.log.logIndex - other.log.logIndex)) {
      if (event.kind === "transfer") moved.push(event);
      if (!isOutcome(event)) continue;
      movements.set(placeOf(event), moved);
      moved = [];
    }
  }
  return movements;
}

/** A use or cancellation of an authorization, of any payer. */
export type AuthorizationUse = Extract<ChainEvent, { authorizer: string }> & {
  /** Null when it was cancelled. */
  moved: TokenMovement | null;
};

export function usesIn({ events }: Pick<FinalRange, "events">): AuthorizationUse[] {
  const transfers = new Map(
    events.flatMap((event) => (event.kind === "transfer" ? [[placeOf(event), event] as const] : [])),
  );
  return events.flatMap((event) => {
    if (event.kind === "canceled") return [{ ...event, moved: null }];
    // The token logs the authorizer right before the movement.
    return event.kind === "used" ? [{ ...event, moved: transfers.get(placeOf(event, 1)) ?? null }] : [];
  });
}

function usedByOurWallets(range: FinalRange): UsedAuthorization[] {
  return usesIn(range).flatMap(({ kind, authorizer, nonce, log, moved }) => {
    const owner = range.owners.get(authorizer);
    if (kind !== "used" || !owner) return [];
    const { txHash, blockNumber, blockHash } = log;
    return [{ fromWalletId: owner.walletId, nonce, txHash, blockNumber, blockHash, moved }];
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
