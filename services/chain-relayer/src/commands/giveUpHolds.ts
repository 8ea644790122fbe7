import { type Database, tx } from "@wonrail/kit/db";
import { appendEvents } from "@wonrail/kit/outbox";
import { encodeAuthorizationState, encodeIsExecuted } from "../chain/contracts";
import { type Provider } from "../chain/provider";
import { decideNext, type Evidence } from "../domain/decideNext";
import { operationConfirmed, operationFailed } from "../events";
import {
  type Confirmation,
  factsOf,
  listExpiredOperations,
  markConfirmed,
  markFailed,
  type Operation,
} from "../store/operations";
import { listPaymentManagers } from "../store/paymentManagers";
import { type Cursor, findCursor, findFurthest } from "../store/scanCursor";
import { assertCanonical, type CanonicalDeps } from "./assertCanonical";
import { settledByOthers } from "../queries/settledByOthers";
import { learnAddresses, type WalletClient } from "./learnAddresses";

export interface GiveUpDeps extends CanonicalDeps {
  db: Database;
  provider: Provider;
  wallet: WalletClient;
  chain: { tokenAddress: string; network: string };
}

const AT_ONCE = 100;

/**
 * Gives up money on its way out whose time is over, on proof only: in a final block after its last validBefore its authorization is
 * unused, so it can never be used. What the chain says by a block's number counts only while that block is the one that was taken in.
 */
export async function giveUpHolds(deps: GiveUpDeps): Promise<void> {
  const [cursor, furthest] = [await findCursor(deps.db), await findFurthest(deps.db)];
  // While blocks are taken in again, the older state proves nothing that was not proved then.
  if (!cursor || !furthest || cursor.blockNumber < furthest.blockNumber) return;
  const expired = await listExpiredOperations(deps.db, AT_ONCE);
  if (expired.length > 0) await assertCanonical(deps, furthest);
  for (const operation of expired) {
    const other = await settledByOthers(deps.db, operation);
    const used = other !== null || !(await isUnusedAt(deps, operation, cursor));
    const { blockTime } = cursor;
    const evidence: Evidence = { kind: "looked_up", blockTime, used, settled: other !== null };
    const next = decideNext(factsOf(operation), evidence);
    if (next.do === "confirm" && other) await confirm(deps, { operation, ...other, gasUsed: 0n });
    if (next.do !== "fail") continue;
    await assertCanonical(deps, furthest);
    await giveUp(deps, operation, cursor);
  }
}

async function isUnusedAt(
  { db, provider, wallet, chain }: GiveUpDeps,
  operation: Operation,
  cursor: Cursor,
): Promise<boolean> {
  const { addresses } = await learnAddresses({ db, wallet }, [operation]);
  const [step] = operation.steps;
  const from = addresses.get(step!.fromWalletId!);
  // Without an address nothing can have been signed.
  if (from === undefined) return true;
  const at = cursor.blockNumber;
  const managers = await listPaymentManagers(db);
  const answers = await Promise.all([
    provider.callAt(chain.tokenAddress, encodeAuthorizationState(from, step!.nonce), at),
    ...managers.map((manager) => provider.callAt(manager, encodeIsExecuted(operation.operationId), at)),
  ]);
  return answers.every((used) => BigInt(used) === 0n);
}

async function confirm({ db, chain }: GiveUpDeps, confirmation: Confirmation): Promise<void> {
  await tx(db, async (tx) => {
    const confirmed = await markConfirmed(tx, [confirmation]);
    await appendEvents(
      tx,
      confirmed.map((one) => operationConfirmed(one, chain.network)),
    );
  });
}

async function giveUp({ db, chain }: GiveUpDeps, operation: Operation, cursor: Cursor): Promise<void> {
  const proof = { reason: operation.waitReason ?? "expired", ...cursor };
  await tx(db, async (tx) => {
    if (await markFailed(tx, operation, proof))
      await appendEvents(tx, [operationFailed(operation, chain.network, proof)]);
  });
}
