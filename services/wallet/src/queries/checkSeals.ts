import { type Database } from "@wonrail/kit/db";
import { type Keyring } from "../keys/keyring";
import { countSeedsByKek, findSeedUnder } from "../store/seeds";

export interface SealCheck {
  kekId: string;
  seeds: bigint;
  /** The reason why the seeds under this key cannot be used; null when a tried seed opens. */
  problem: string | null;
}

/**
 * For each key-encryption key of the seeds: whether a seed under it opens with the current key
 * file.
 */
export async function checkSeals({
  db,
  keyring,
}: {
  db: Database;
  keyring: Keyring;
}): Promise<{ currentKeyId: string; checks: SealCheck[] }> {
  const { currentKeyId } = keyring;
  const checks: SealCheck[] = [];
  for (const { kekId, seeds } of await countSeedsByKek(db))
    checks.push({ kekId, seeds, problem: await problemOf(db, keyring, kekId) });
  return { currentKeyId, checks };
}

async function problemOf(db: Database, keyring: Keyring, kekId: string): Promise<string | null> {
  const seed = await findSeedUnder(db, kekId);
  if (!seed) return null;
  try {
    await keyring.withSeed(seed, (keys) => keys.address(0));
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
