import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { appendEvents } from "@wonrail/kit/outbox";
import { type ClosingWallet, type Wallet } from "../domain/wallet";
import { walletDeactivated } from "../events";
import { beginClosing, endClosing, findWallet, stopClosing } from "../store/wallets";
import { withUnknownOutcome } from "./withUnknownOutcome";
import { type LedgerClient } from "./openAccount";

export interface DeactivateWalletDeps {
  db: Database;
  ledger: LedgerClient;
  newRequestId: () => string;
}

/**
 * The ledger decides under the account's lock whether the wallet is empty and idle. From then on it
 * refuses every movement. All callers and the job use the one request id that the wallet has, and
 * the ledger answers it once. So no caller sets a wallet back to ACTIVE after its account was
 * closed.
 */
export async function deactivateWallet(
  deps: DeactivateWalletDeps,
  of: { orgId: string; walletId: string },
): Promise<Wallet> {
  const { wallet, joined } = await begin(deps, of);
  try {
    return await withUnknownOutcome(() => closeAccount(deps, wallet));
  } catch (error) {
    // The ledger may have refused an earlier request and may grant this one.
    if (!joined || !isRefusedClosing(error)) throw error;
  }
  const again = await begin(deps, of);
  return withUnknownOutcome(() => closeAccount(deps, again.wallet));
}

async function begin(
  { db, newRequestId }: DeactivateWalletDeps,
  { orgId, walletId }: { orgId: string; walletId: string },
): Promise<{ wallet: ClosingWallet; joined: boolean }> {
  const requestId = newRequestId();
  return tx(db, async (tx) => {
    const wallet = await beginClosing(tx, { orgId, walletId }, ["ACTIVE", "DEACTIVATING"], requestId);
    if (wallet) return { wallet, joined: wallet.closingRequestId !== requestId };
    const found = await findWallet(tx, orgId, walletId);
    throw new DomainError(found?.status === "DEACTIVATED" ? "WAL_004" : "WAL_002", { walletId });
  });
}

/** Finishes a wallet that a crash left DEACTIVATING. */
export async function finishClosing(deps: DeactivateWalletDeps, wallet: Wallet): Promise<void> {
  const { db, newRequestId } = deps;
  const closing = await tx(db, (tx) => beginClosing(tx, wallet, ["DEACTIVATING"], newRequestId()));
  if (!closing) return;
  try {
    await closeAccount(deps, closing);
  } catch (error) {
    // The refusal made the wallet ACTIVE again, so the job is done.
    if (!isRefusedClosing(error)) throw error;
  }
}

async function closeAccount({ db, ledger }: DeactivateWalletDeps, wallet: ClosingWallet): Promise<Wallet> {
  try {
    await ledger.post({
      context: { orgId: wallet.orgId, requestId: "", traceparent: "" },
      requestId: wallet.closingRequestId,
      metadata: {},
      intent: { $case: "closeAccount", value: { walletId: wallet.walletId } },
    });
  } catch (error) {
    const closedBefore = error instanceof DomainError && error.code === "WAL_004";
    if (isRefusedClosing(error)) await tx(db, (tx) => stopClosing(tx, wallet));
    if (!closedBefore) throw error;
  }
  return tx(db, async (tx) => {
    const closed = await endClosing(tx, wallet);
    if (!closed) return (await findWallet(tx, wallet.orgId, wallet.walletId))!;
    await appendEvents(tx, [walletDeactivated(closed)]);
    return closed;
  });
}

/**
 * True for a decision of the ledger. Another refusal does not reveal an earlier decision under this
 * request id.
 */
function isRefusedClosing(error: unknown): boolean {
  return error instanceof DomainError && (error.code === "WAL_002" || error.code === "WAL_003");
}
