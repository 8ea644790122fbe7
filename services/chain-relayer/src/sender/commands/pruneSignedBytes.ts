import { type Database, tx } from "@wonrail/kit/db";
import { pruneFinalBytes } from "../store/transactions";

export interface PruneDeps {
  db: Database;
  /** How far this process has looked; from the beginning after each start. */
  bytesWalk: { after: bigint };
}

const AT_ONCE = 100;

/**
 * The signed bytes are there to be sent again, and the call to be signed again. Of what is final neither will be; a month is for people who look into it.
 * What is not final keeps them, however old it is: a nonce that was lost can come back.
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
