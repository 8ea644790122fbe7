import { type Database, tx } from "@wonrail/kit/db";
import { pruneFinalBytes } from "../store/transactions";

export interface PruneDeps {
  db: Database;
  /** The last transaction that this process has looked at; 0 after each start. */
  bytesWalk: { after: bigint };
}

const AT_ONCE = 100;

/**
 * Empties the signed bytes and calls of transactions that have been final for a month, because they
 * are never sent or signed again. Others keep them at any age: a lost nonce can return.
 */
export async function pruneSignedBytes(
  { db, bytesWalk }: PruneDeps,
  signal: AbortSignal,
  atOnce = AT_ONCE,
): Promise<void> {
  for (let more = true; more && !signal.aborted;) {
    const seen = await tx(db, (tx) => pruneFinalBytes(tx, bytesWalk.after, atOnce));
    bytesWalk.after = seen.at(-1) ?? bytesWalk.after;
    more = seen.length === atOnce;
  }
}
