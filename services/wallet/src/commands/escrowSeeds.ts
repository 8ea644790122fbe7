import { type Database } from "@wonrail/kit/db";
import { type Keyring, type SealedSeed } from "../keys/keyring";
import { type SeedEscrow } from "../keys/seedEscrow";
import { listSeeds } from "../store/seeds";

export interface EscrowDeps {
  db: Database;
  keyring: Keyring;
  /** Null when seeds are kept in the database alone. */
  escrow: SeedEscrow | null;
}

const BATCH = 100;

/**
 * Gives the escrow each seed that it lacks, or has under another key-encryption key. Returns the
 * number of stored seeds. Fails when the escrow has another seed of an organisation: it would be
 * the only copy.
 */
export async function escrowSeeds(deps: EscrowDeps, signal: AbortSignal): Promise<number> {
  const { db, escrow } = deps;
  if (escrow === null) return 0;
  let stored = 0;
  for (let after = ""; !signal.aborted;) {
    const seeds = await listSeeds(db, after, BATCH);
    const last = seeds.at(-1);
    if (!last) break;
    for (const seed of seeds) {
      const copy = await escrow.find(seed.orgId);
      if (copy?.keyId === seed.keyId && copy.bytes.equals(seed.bytes)) continue;
      if (copy && !(await isSameSeed(deps, copy, seed)))
        throw new Error(`the escrow has another seed of ${seed.orgId} than the database`);
      await escrow.replace(seed);
      stored += 1;
    }
    after = last.orgId;
  }
  return stored;
}

async function isSameSeed({ keyring }: EscrowDeps, one: SealedSeed, other: SealedSeed): Promise<boolean> {
  const addressOf = (seed: SealedSeed) => keyring.withSeed(seed, (keys) => keys.address(0));
  return (await addressOf(one)) === (await addressOf(other));
}
