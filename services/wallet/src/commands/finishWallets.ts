import { isNotExecuted } from "@wonrail/kit/contract/errors";
import { type Log } from "@wonrail/kit/log";
import { type Wallet } from "../domain/wallet";
import { listUnfinishedWallets, MAX_CREATION_MS } from "../store/wallets";
import { type DeactivateWalletDeps, finishClosing } from "./deactivateWallet";
import { openAccount } from "./openAccount";

export interface FinishWalletsDeps extends DeactivateWalletDeps {
  log: Log;
}

const AT_ONCE = 100;

/**
 * Finishes wallets that a crash left OPENING or DEACTIVATING. A wallet that fails does not delay
 * the others. The round then fails at its end, so that the job's alert fires.
 */
export async function finishWallets(deps: FinishWalletsDeps, signal: AbortSignal): Promise<void> {
  let after = { orgId: "", walletId: "" };
  let unfinished = 0;
  for (;;) {
    const wallets = await listUnfinishedWallets(deps.db, MAX_CREATION_MS, after, AT_ONCE);
    for (const wallet of wallets) {
      if (signal.aborted) return;
      if (!(await isFinished(deps, wallet))) unfinished += 1;
      after = wallet;
    }
    if (wallets.length < AT_ONCE) break;
  }
  if (unfinished > 0) throw new Error(`${unfinished} wallets could not be finished; the log names each`);
}

async function isFinished(deps: FinishWalletsDeps, wallet: Wallet): Promise<boolean> {
  try {
    if (wallet.status === "OPENING") await openAccount(deps, wallet);
    else await finishClosing(deps, wallet);
    return true;
  } catch (error) {
    // The ledger or PostgreSQL is down: the next wallets would fail too.
    if (isNotExecuted(error)) throw error;
    const { orgId, walletId, status } = wallet;
    deps.log.error({ err: error, orgId, walletId, status }, "a wallet could not be finished");
    return false;
  }
}
