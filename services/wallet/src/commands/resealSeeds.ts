import { type ActingOperator, recordOperatorAction } from "@wonrail/kit/admin";
import { type Database, tx } from "@wonrail/kit/db";
import { type Keyring, type SealedSeed } from "../keys/keyring";
import { listSeedsNotUnder, replaceSeal } from "../store/seeds";

const BATCH = 100;

export interface Resealed {
  /** The current key-encryption key. */
  kekId: string;
  resealed: number;
  /**
   * Organisations with a seed that does not open: its row was damaged or moved, or its key-
   * encryption key is gone.
   */
  unopened: string[];
}

/**
 * Seals every seed under the current key-encryption key. Both keys open seals meanwhile, so signing
 * continues. A seed that does not open does not stop the others.
 */
export async function resealSeeds(
  { db, keyring }: { db: Database; keyring: Keyring },
  operator: ActingOperator,
): Promise<Resealed> {
  const kekId = keyring.currentKeyId;
  // Recorded first: seals change in many transactions.
  await tx(db, (tx) => recordOperatorAction(tx, operator, { subject: `key-encryption key ${kekId}` }));
  const unopened: string[] = [];
  let resealed = 0;
  for (let after = ""; ;) {
    const seeds = await listSeedsNotUnder(db, kekId, after, BATCH);
    const last = seeds.at(-1);
    if (!last) return { kekId, resealed, unopened };
    for (const seed of seeds) {
      const again = await reseal(keyring, seed);
      if (!again) unopened.push(seed.orgId);
      else if (await replaceSeal(db, seed, again)) resealed += 1;
    }
    after = last.orgId;
  }
}

async function reseal(keyring: Keyring, seed: SealedSeed): Promise<SealedSeed | null> {
  try {
    return await keyring.reseal(seed);
  } catch {
    // The row was damaged or moved, or its key is no longer in the file.
    return null;
  }
}
