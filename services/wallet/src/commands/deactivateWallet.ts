import { type Database, tx } from "@wonrail/kit/db";
import { DomainError, isRefusal } from "@wonrail/kit/errors";
import { type Wallet } from "../domain/wallet";
import { walletDeactivated } from "../events";
import { findWallet, moveWallet } from "../store/wallets";
import { onceBegun } from "./onceBegun";
import { type LedgerClient } from "./openAccount";

export interface DeactivateWalletDeps {
  db: Database;
  ledger: LedgerClient;
  newRequestId: () => string;
}

/**
 * The ledger decides, under the account's lock, whether the wallet is empty and idle; from then on it refuses every movement. What
 * a crash leaves DEACTIVATING is asked again.
 */
export async function deactivateWallet(
  deps: DeactivateWalletDeps,
  { orgId, walletId }: { orgId: string; walletId: string },
): Promise<Wallet> {
  const wallet = await tx(deps.db, async (tx) => {
    const started = await moveWallet(tx, { orgId, walletId: walletId as Wallet["walletId"] }, START);
    return started ?? findWallet(tx, orgId, walletId);
  });
  if (!wallet || wallet.status === "OPENING") throw new DomainError("WAL_002");
  if (wallet.status === "DEACTIVATED") throw new DomainError("WAL_004");
  return onceBegun(() => closeAccount(deps, wallet));
}

export async function closeAccount(
  { db, ledger, newRequestId }: DeactivateWalletDeps,
  wallet: Wallet,
): Promise<Wallet> {
  try {
    await ledger.post({
      context: { orgId: wallet.orgId, requestId: "", traceparent: "" },
      // Each attempt is a new question: what was refused while the wallet held money may be granted now.
      requestId: newRequestId(),
      intent: { $case: "closeAccount", value: { walletId: wallet.walletId } },
    });
  } catch (error) {
    const closedBefore = error instanceof DomainError && error.code === "WAL_004";
    if (isRefusal(error) && !closedBefore) await tx(db, (tx) => moveWallet(tx, wallet, BACK));
    if (!closedBefore) throw error;
  }
  return tx(db, async (tx) => {
    const closed = await moveWallet(tx, wallet, FINISH);
    if (!closed) return (await findWallet(tx, wallet.orgId, wallet.walletId))!;
    await walletDeactivated(tx, closed);
    return closed;
  });
}

const START = { from: ["ACTIVE"], to: "DEACTIVATING", events: 0 } as const;
const BACK = { from: ["DEACTIVATING"], to: "ACTIVE", events: 0 } as const;
/** Also from ACTIVE: of two that ask at once one may be refused, and write its way back after the other was granted. The ledger's word is the last. */
const FINISH = { from: ["DEACTIVATING", "ACTIVE"], to: "DEACTIVATED", events: 1 } as const;
