import { isRefusal } from "@wonrail/kit/errors";
import { listUnfinishedWallets } from "../store/wallets";
import { closeAccount, type DeactivateWalletDeps } from "./deactivateWallet";
import { openAccount } from "./openAccount";

/** Longer than any request may take, so that a wallet is never finished by two at once for no reason. */
const OLDER_THAN_MS = 5_000;
const AT_ONCE = 100;

/** Goes on with wallets that a crash left half made or half deactivated. */
export async function finishWallets(deps: DeactivateWalletDeps, signal: AbortSignal): Promise<void> {
  for (const wallet of await listUnfinishedWallets(deps.db, OLDER_THAN_MS, AT_ONCE)) {
    if (signal.aborted) return;
    if (wallet.status === "OPENING") {
      await openAccount(deps, wallet);
    } else {
      await closeAccount(deps, wallet).catch(ignoreRefusal);
    }
  }
}

/** The wallet got money meanwhile and is active again: that is an outcome too. */
function ignoreRefusal(error: unknown): void {
  if (!isRefusal(error)) throw error;
}
