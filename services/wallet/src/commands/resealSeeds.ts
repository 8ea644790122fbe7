import { type Database } from "@wonrail/kit/db";
import { type Keyring, type SealedSeed } from "../keys/keyring";
import { listSeedsNotUnder, replaceSeal } from "../store/seeds";

const BATCH = 100;

export interface Resealed {
  resealed: number;
  /** Organisations whose seed does not open: the row was damaged or moved, or its key-encryption key is gone. */
  unopened: string[];
}

/**
 * Seals every seed under the key-encryption key of today. Both keys open meanwhile, so nothing waits for it. A seed that does not open
 * does not keep the others under a key that is to go.
 */
export async function resealSeeds(
  { db, keyring }: { db: Database; keyring: Keyring },
  onProgress: (resealed: number) => void = () => undefined,
): Promise<Resealed> {
  const kekId = keyring.currentKeyId;
  const unopened: string[] = [];
  let resealed = 0;
  for (let after = ""; ;) {
    const seeds = await listSeedsNotUnder(db, kekId, after, BATCH);
    const last = seeds.at(-1);
    if (!last) return { resealed, unopened };
    for (const seed of seeds) {
      const again = await reseal(keyring, seed);
      if (!again) unopened.push(seed.orgId);
      else if (await replaceSeal(db, seed, again)) resealed += 1;
    }
    onProgress(resealed);
    after = last.orgId;
  }
}

async function reseal(keyring: Keyring, seed: SealedSeed): Promise<SealedSeed | null> {
  try {
    return await keyring.reseal(seed);
  } catch {
    // Damaged, moved, or under a key that is no longer in the file.
    return null;
  }
}
