import { type Database } from "@wonrail/kit/db";
import { type Keyring } from "../keys/keyring";
import { listSeedsNotUnder, replaceSeal } from "../store/seeds";

const BATCH = 100;

/** Seals every seed under the key-encryption key of today. Both keys open meanwhile, so nothing waits for it. */
export async function resealSeeds(
  { db, keyring }: { db: Database; keyring: Keyring },
  onProgress: (resealed: number) => void = () => undefined,
): Promise<number> {
  const kekId = keyring.currentKeyId;
  let resealed = 0;
  for (;;) {
    const seeds = await listSeedsNotUnder(db, kekId, BATCH);
    if (seeds.length === 0) return resealed;
    for (const seed of seeds) {
      if (await replaceSeal(db, seed, await keyring.reseal(seed))) resealed += 1;
    }
    onProgress(resealed);
  }
}
