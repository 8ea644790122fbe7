import { randomBytes } from "node:crypto";
import { addressOf, type Curve } from "./curve";
import { type Node, walletBranch, walletKey, wipe } from "./hierarchy";
import { type Kms, type Sealed, type SealContext } from "@wonrail/kit/kms";

const SEED_BYTES = 32;

export interface SealedSeed extends Sealed {
  orgId: string;
  version: number;
}

/** The only place with users' keys, which exist during a signature only. */
export interface Keyring {
  newSeed(orgId: string): Promise<SealedSeed>;
  /** Seals the same seed under the current key-encryption key. */
  reseal(seed: SealedSeed): Promise<SealedSeed>;
  /** Opens a seed for a run of derivations; it is wiped when the work is done. */
  withSeed<T>(seed: SealedSeed, work: (keys: SeedKeys) => T): Promise<T>;
  readonly currentKeyId: string;
}

export interface SeedKeys {
  address(index: number): string;
  sign(index: number, digest: Uint8Array): Buffer;
}

export function createKeyring({ kms, curve }: { kms: Kms; curve: Curve }): Keyring {
  return {
    get currentKeyId() {
      return kms.currentKeyId;
    },
    async newSeed(orgId) {
      const seed = randomBytes(SEED_BYTES);
      return { orgId, version: 1, ...(await sealAndWipe(seed, contextOf(orgId, 1))) };
    },
    async reseal(sealed) {
      const context = contextOf(sealed.orgId, sealed.version);
      return { ...sealed, ...(await sealAndWipe(await kms.open(sealed, context), context)) };
    },
    async withSeed(sealed, work) {
      const seed = await kms.open(sealed, contextOf(sealed.orgId, sealed.version));
      const branch = branchOf(seed);
      try {
        return work({
          address: (index) => withKey(branch, index, (key) => addressOf(curve.publicKey(key))),
          sign: (index, digest) => withKey(branch, index, (key) => curve.sign(digest, key)),
        });
      } finally {
        wipe(branch);
      }
    },
  };

  async function sealAndWipe(seed: Buffer, context: SealContext): Promise<Sealed> {
    try {
      return await kms.seal(seed, context);
    } finally {
      seed.fill(0);
    }
  }

  function branchOf(seed: Buffer): Node {
    try {
      return walletBranch(curve, seed);
    } finally {
      seed.fill(0);
    }
  }

  function withKey<T>(branch: Node, index: number, work: (key: Buffer) => T): T {
    const key = walletKey(curve, branch, index);
    try {
      return work(key);
    } finally {
      key.fill(0);
    }
  }
}

/** A seed serves all wallets of its organisation, so the object's place in the context is empty. */
function contextOf(orgId: string, version: number): SealContext {
  return { orgId, objectId: "", purpose: "seed", version };
}
