import { type Database, tx } from "@wonrail/kit/db";
import { type Log } from "@wonrail/kit/log";
import { type Provider } from "../../evm";
import {
  type ChainTransaction,
  fenceRetiredSigner,
  hashesOf,
  type Lease,
  listRetiredSigners,
  listOpenTransactions,
  markTransaction,
  recordMined,
} from "../store/transactions";
import { type HeadsSeen, type OnReleased } from "./watchTransactions";

export interface RecoverDeps {
  db: Database;
  log: Log;
  provider: Provider;
  headsSeen: HeadsSeen;
  onReleased: OnReleased;
}

/**
 * A writer renews its lease every few seconds. After this time without a renewal the key is
 * retired.
 */
const GONE_AFTER_MS = 60_000;

/**
 * Releases the unmined transactions of a retired operator key, which no process sends. Their calls
 * go again under the current key. If an old one is mined after all, the contract executes each
 * operation once.
 */
export async function recoverFromRetiredSigner(deps: RecoverDeps, lease: Lease): Promise<void> {
  const { db, provider, headsSeen } = deps;
  const gone = await listRetiredSigners(db, lease, GONE_AFTER_MS);
  if (gone.length === 0) return;
  const { hash } = await provider.latestBlock();
  for (const signer of gone.filter((one) => headsSeen.get(one) !== hash)) {
    await recoverFrom(deps, lease, signer);
    headsSeen.set(signer, hash);
  }
}

async function recoverFrom(
  { db, log, provider, onReleased }: RecoverDeps,
  lease: Lease,
  gone: string,
): Promise<void> {
  const open = await listOpenTransactions(db, gone);
  const receipts = await provider.receipts(hashesOf(open));
  // Mined transactions are left to finality, or to a later round after a reorganisation.
  const isMined = ({ versions }: ChainTransaction) => versions.some(({ txHash }) => receipts.has(txHash));
  const mined = open.filter((one) => one.state !== "MINED" && isMined(one));
  if (mined.length > 0)
    await recordMined(
      db,
      mined.map(({ transactionId }) => transactionId),
      [],
    );
  const unmined = open.filter((one) => !isMined(one));
  if (unmined.length === 0) return;
  const isGone = await tx(db, async (tx) => {
    if (!(await fenceRetiredSigner(tx, lease, gone, GONE_AFTER_MS))) return false;
    for (const { transactionId } of unmined)
      if (await markTransaction(tx, transactionId, "LOST"))
        await onReleased(tx, transactionId, "signer_changed");
    return true;
  });
  if (isGone)
    log.warn({ gone, transactions: unmined.length }, "planned the operations of a retired signer again");
}
