import { type Database, tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { encodeAuthorizationState, encodeIsExecuted, type Provider } from "../../evm";
import { decideNext, type Evidence } from "../domain/decideNext";
import { operationConfirmed, operationFailed } from "../events";
import {
  assertCanonical,
  type CanonicalDeps,
  type Cursor,
  findCursor,
  findFurthest,
  isCancelled,
  listPaymentManagers,
  type WalletClient,
} from "../../indexer";
import {
  type Confirmation,
  type EndPlace,
  factsOf,
  listExpiredOperations,
  markConfirmed,
  markFailed,
  type Operation,
} from "../store/operations";
import { settledByOthers } from "../queries/settledByOthers";
import { resolveAddresses } from "./resolveAddresses";

export interface ExpireDeps extends CanonicalDeps {
  db: Database;
  provider: Provider;
  wallet: WalletClient;
  chain: { tokenAddress: string; network: string };
  /** Behind which one this process looks next: however many cannot be given up, the others have their turn. */
  holdsWalk: { after: EndPlace | null };
}

const AT_ONCE = 100;

/**
 * Gives up money on its way out whose time is over, on proof only: in a final block after its last validBefore its authorization is
 * unused, so it can never be used. What the chain says by a block's number counts only while that block is the one that was taken in.
 */
export async function expireHolds(deps: ExpireDeps, signal: AbortSignal): Promise<void> {
  const [cursor, furthest] = [await findCursor(deps.db), await findFurthest(deps.db)];
  // While blocks are taken in again, the older state proves nothing that was not proved then.
  if (!cursor || !furthest || cursor.blockNumber < furthest.blockNumber) return;
  const expired = await listExpiredOperations(deps.db, deps.holdsWalk.after, AT_ONCE);
  deps.holdsWalk.after = placeAfter(expired);
  if (expired.length > 0) await assertCanonical(deps, furthest);
  for (const operation of expired) {
    signal.throwIfAborted();
    const other = await settledByOthers(deps.db, operation);
    const evidence = await lookUp(deps, operation, { cursor, isSettled: other !== null });
    const next = decideNext(factsOf(operation), evidence);
    if (next.do === "confirm" && other) await confirm(deps, { operation, ...other, gasUsed: 0n });
    if (next.do !== "fail") continue;
    await assertCanonical(deps, furthest);
    await giveUp(deps, operation, cursor);
  }
}

/** From the first one again, when there are no more. */
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
  // Without an address nothing can have been signed.
  if (from === undefined) return { ...lookedUp, used: false };
  if (await isExecutedAt(deps, operation, cursor)) return { ...lookedUp, used: true };
  // The token says of such a one that it is used.
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
    await appendEvents(
      tx,
      confirmed.map((one) => operationConfirmed(one, chain.network)),
    );
  });
}

async function giveUp({ db, chain }: ExpireDeps, operation: Operation, cursor: Cursor): Promise<void> {
  const proof = { reason: operation.waitReason ?? "expired", ...cursor };
  await tx(db, async (tx) => {
    if (await markFailed(tx, operation, proof))
      await appendEvents(tx, [operationFailed(operation, chain.network, proof)]);
  });
}
