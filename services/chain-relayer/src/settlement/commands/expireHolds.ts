import { type Database, tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { encodeAuthorizationState, encodeIsExecuted, type Provider } from "../../evm";
import { decideNext, type Evidence } from "../domain/decideNext";
import { isLeg } from "../domain/steps";
import { operationFailed, operationsConfirmed } from "../events";
import {
  assertCanonical,
  type CanonicalDeps,
  type Cursor,
  findCursor,
  findFurthestBlock,
  findUsedAuthorizations,
  isCancelled,
  listPaymentManagers,
  type WalletClient,
} from "../../indexer";
import { type Confirmation, factsOf, markConfirmed, markFailed, type Operation } from "../store/operations";
import { type EndPlace, listExpiredHolds, startHoldClocks } from "../store/holds";
import { expireOrderedHolds } from "../store/sandboxOrders";
import { findSettlementByOthers } from "../queries/settlementsByOthers";
import { resolveAddresses } from "./resolveAddresses";

export interface ExpireDeps extends CanonicalDeps {
  db: Database;
  provider: Provider;
  wallet: WalletClient;
  chain: { tokenAddress: string; network: string };
  /** Time for which a hold is retried after a refusal for its own cause. */
  outsideLifeMs: number;
  /** Position of the next look: holds that cannot expire do not delay others. */
  holdsWalk: { after: EndPlace | null };
}

const AT_ONCE = 100;

/**
 * Fails holds with their own cause after their time, only with proof: in a final block after the
 * latest signed end, the authorization is unused. Answers by block number count only while that
 * block is the indexed one.
 */
export async function expireHolds(deps: ExpireDeps, signal: AbortSignal): Promise<void> {
  const [cursor, furthest] = [await findCursor(deps.db), await findFurthestBlock(deps.db)];
  await expireOrderedHolds(deps.db);
  await startHoldClocks(deps.db, deps.outsideLifeMs);
  // During a rescan the older state proves nothing.
  if (!cursor || !furthest || cursor.blockNumber < furthest.blockNumber) return;
  const expired = await listExpiredHolds(deps.db, deps.holdsWalk.after, AT_ONCE);
  deps.holdsWalk.after = placeAfter(expired);
  if (expired.length > 0) await assertCanonical(deps, furthest);
  for (const operation of expired) {
    signal.throwIfAborted();
    const other = await findSettlementByOthers(deps.db, operation);
    const facts = factsOf(operation, await findLatestEnd(deps, operation));
    if (!other && cursor.blockTime <= facts.endsAt!) continue;
    const evidence = await lookUp(deps, operation, { cursor, isSettled: other !== null });
    const next = decideNext(facts, evidence);
    if (next.do === "confirm" && other) await confirm(deps, { operation, ...other, gasUsed: 0n });
    if (next.do !== "fail") continue;
    await assertCanonical(deps, furthest);
    await giveUp(deps, operation, cursor);
  }
}

/**
 * Latest end of all authorizations signed for the hold; some may stem from another setting or from
 * before a restore.
 */
async function findLatestEnd({ wallet }: ExpireDeps, { orgId, ledgerRef }: Operation): Promise<bigint> {
  return (await wallet.getLatestAuthorization({ orgId, ledgerRef })).latestValidBefore ?? 0n;
}

/** Starts over when there are no more. */
function placeAfter(expired: Operation[]): EndPlace | null {
  const last = expired.length === AT_ONCE ? expired.at(-1)! : null;
  return last && { expiresAt: last.expiresAt!, ledgerRef: last.ledgerRef };
}

async function lookUp(
  deps: ExpireDeps,
  operation: Operation,
  { cursor, isSettled }: { cursor: Cursor; isSettled: boolean },
): Promise<Evidence> {
  const lookedUp = { kind: "looked_up", blockTime: cursor.blockTime, settled: isSettled } as const;
  if (isSettled) return { ...lookedUp, used: true };
  const { addresses } = await resolveAddresses(deps, [operation]);
  const [step] = operation.steps;
  const from = addresses.get(step!.fromWalletId!);
  // Without an address no signature can exist.
  if (from === undefined) return { ...lookedUp, used: false };
  if (await isExecutedAt(deps, operation, cursor)) return { ...lookedUp, used: true };
  // Used in a final block, but not for this hold, so it can never be used for it.
  const usedFor = await findUsedAuthorizations(deps.db, operation.steps.filter(isLeg));
  if (usedFor.size > 0) return { kind: "cancelled" };
  // The token calls a cancelled authorization used.
  if (await isCancelled(deps.db, step!.fromWalletId!, step!.nonce)) return { kind: "cancelled" };
  const { provider, chain } = deps;
  const asked = encodeAuthorizationState(from, step!.nonce);
  const used = await provider.callAt(chain.tokenAddress, asked, cursor.blockNumber);
  return { ...lookedUp, used: BigInt(used) !== 0n };
}

/** By any payment manager that was ever in use. */
async function isExecutedAt(
  { db, provider }: ExpireDeps,
  { operationId }: Operation,
  { blockNumber }: Cursor,
): Promise<boolean> {
  const asked = encodeIsExecuted(operationId);
  const managers = await listPaymentManagers(db);
  const answers = await Promise.all(managers.map((manager) => provider.callAt(manager, asked, blockNumber)));
  return answers.some((executed) => BigInt(executed) !== 0n);
}

async function confirm({ db, chain }: ExpireDeps, confirmation: Confirmation): Promise<void> {
  await tx(db, async (tx) => {
    const confirmed = await markConfirmed(tx, [confirmation]);
    await appendEvents(tx, operationsConfirmed(confirmed, chain.network));
  });
}

async function giveUp({ db, chain }: ExpireDeps, operation: Operation, cursor: Cursor): Promise<void> {
  const proof = { reason: operation.waitReason!, ...cursor };
  await tx(db, async (tx) => {
    const change = await markFailed(tx, operation, proof);
    if (change) await appendEvents(tx, [operationFailed(operation, chain.network, { ...proof, ...change })]);
  });
}
