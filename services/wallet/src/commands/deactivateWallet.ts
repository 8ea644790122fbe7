import { type Database, tx } from "@wonrail/kit/db";
import { DomainError } from "@wonrail/kit/contract/errors";
import { type Answered, claimKey, type KeyedRequest, saveAnswer } from "@wonrail/kit/idempotency";
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
 * closed. The Idempotency-Key is stored with the start, and its answer with the end.
 */
export async function deactivateWallet(deps: DeactivateWalletDeps, of: WalletOf): Promise<Answered<Wallet>> {
  const begun = await begin(deps, of);
  if ("answer" in begun) return begun;
  try {
    return await finish(deps, begun.wallet, of.keyed);
  } catch (error) {
    // The ledger may have refused an earlier request and may grant this one.
    if (!begun.joined || !isRefusedClosing(error)) throw error;
  }
  const again = await begin(deps, of);
  return "answer" in again ? again : finish(deps, again.wallet, of.keyed);
}

export interface WalletOf {
  orgId: string;
  walletId: string;
  keyed?: KeyedRequest | undefined;
}

async function finish(
  deps: DeactivateWalletDeps,
  wallet: ClosingWallet,
  keyed: KeyedRequest | undefined,
): Promise<Answered<Wallet>> {
  return { answer: await withUnknownOutcome(() => closeAccount(deps, wallet, keyed)), replayed: false };
}

async function begin(
  { db, newRequestId }: DeactivateWalletDeps,
  { orgId, walletId, keyed }: WalletOf,
): Promise<{ wallet: ClosingWallet; joined: boolean } | Answered<Wallet>> {
  const requestId = newRequestId();
  return tx(db, async (tx) => {
    const earlier = keyed && (await claimKey<Wallet>(tx, keyed));
    if (earlier?.answer) return { answer: earlier.answer, replayed: true };
    const wallet = await beginClosing(tx, { orgId, walletId }, ["ACTIVE", "DEACTIVATING"], requestId);
    if (wallet) return { wallet, joined: wallet.closingRequestId !== requestId };
    const found = await findWallet(tx, orgId, walletId);
    if (earlier && found?.status === "DEACTIVATED") {
      // A crash interrupted the first request, and the job finished it.
      await saveAnswer(tx, keyed, found);
      return { answer: found, replayed: true };
    }
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

async function closeAccount(
  { db, ledger }: DeactivateWalletDeps,
  wallet: ClosingWallet,
  keyed?: KeyedRequest,
): Promise<Wallet> {
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
    const answer = closed ?? (await findWallet(tx, wallet.orgId, wallet.walletId))!;
    if (closed) await appendEvents(tx, [walletDeactivated(closed)]);
    if (keyed) await saveAnswer(tx, keyed, answer);
    return answer;
  });
}

/**
 * True for a decision of the ledger. Another refusal does not reveal an earlier decision under this
 * request id.
 */
function isRefusedClosing(error: unknown): boolean {
  return error instanceof DomainError && (error.code === "WAL_002" || error.code === "WAL_003");
}
