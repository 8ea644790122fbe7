import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { assert, isNotExecuted } from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";
import { appendEvents } from "@wonrail/kit/outbox";
import { type StoredStatus, type Wallet } from "../domain/wallet";
import { walletReopened } from "../events";
import { deleteReopening, insertReopening, listReopenings, type Reopening } from "../store/reopenings";
import { findWallet, lockWallets, reopenWallet } from "../store/wallets";
import { type LedgerClient } from "./openAccount";

const AT_ONCE = 1_000;

export interface BeginReopeningDeps {
  db: Database;
  newRequestId: () => string;
}

/**
 * Stores an operator's request to reopen a deactivated wallet; the job executes it. Returns the
 * status when the wallet is not DEACTIVATED, and undefined when it does not exist.
 */
export async function beginReopening(
  { db, newRequestId }: BeginReopeningDeps,
  { orgId, walletId }: { orgId: string; walletId: string },
  operator: ActingOperator,
): Promise<Reopening | Exclude<StoredStatus, "DEACTIVATED"> | undefined> {
  return tx(db, async (tx) => {
    // Without the lock the wish could be stored again for a wallet that the job has just reopened.
    await lockWallets(tx, [{ orgId, walletId }]);
    const wallet = await findWallet(tx, orgId, walletId);
    if (wallet?.status !== "DEACTIVATED") return wallet?.status;
    const effect = `Make the deactivated wallet ${walletId} ACTIVE again, with all tokens on its address.`;
    await recordOperatorAction(tx, operator, { orgId, subject: walletId, effect });
    return insertReopening(tx, { orgId, walletId, requestId: newRequestId(), operator: operator.name });
  });
}

export interface ReopenWalletsDeps {
  db: Database;
  ledger: LedgerClient;
  log: Log;
}

/**
 * Reopens the wallets that operators asked for. A wallet that fails does not delay the others; the
 * round then fails at its end, for the job's alert.
 */
export async function reopenWallets(deps: ReopenWalletsDeps, signal: AbortSignal): Promise<void> {
  let undone = 0;
  for (const reopening of await listReopenings(deps.db, AT_ONCE)) {
    if (signal.aborted) return;
    if (!(await isReopened(deps, reopening))) undone += 1;
  }
  if (undone > 0) throw new Error(`${undone} wallets could not be reopened; the log names each`);
}

async function isReopened(deps: ReopenWalletsDeps, reopening: Reopening): Promise<boolean> {
  try {
    await reopen(deps, reopening);
    return true;
  } catch (error) {
    // The ledger or PostgreSQL is down: the next wallets would fail too.
    if (isNotExecuted(error)) throw error;
    deps.log.error({ err: error, ...reopening }, "a wallet could not be reopened");
    return false;
  }
}

/**
 * Both steps may be repeated: the ledger answers the request id once, and only the caller that
 * deletes the row changes the wallet.
 */
async function reopen({ db, ledger, log }: ReopenWalletsDeps, reopening: Reopening): Promise<void> {
  const { orgId, walletId, requestId } = reopening;
  await ledger.post(
    {
      context: { orgId, requestId: "", traceparent: "" },
      requestId,
      metadata: {},
      intent: { $case: "reopenAccount", value: { walletId } },
    },
    { retry: true },
  );
  const reopened = await tx(db, async (tx): Promise<Wallet | undefined> => {
    await lockWallets(tx, [reopening]);
    if (!(await deleteReopening(tx, reopening))) return undefined;
    const wallet = await reopenWallet(tx, orgId, walletId);
    assert(wallet, "a wallet stays DEACTIVATED until it is reopened");
    await appendEvents(tx, [walletReopened(wallet)]);
    return wallet;
  });
  if (reopened) log.info(reopening, "an operator has reopened a wallet");
}
