import { type Database } from "@wonrail/kit/db";
import { type ApiKey } from "../domain/keys";
import { type KeyUse, saveKeyUses } from "../store/apiKeys";

/** Keys between two writes. Uses of further keys are not written. */
const MAX_KEYS = 10_000;
const BATCH_SIZE = 500;

export interface KeyUses {
  add(key: Pick<ApiKey, "orgId" | "keyId">, usedAt: Date): void;
  /** Writes the last use of each key since the last write. */
  write(): Promise<void>;
}

/**
 * Collects the uses of keys in memory, so that a call writes nothing. Gateways look a used key up
 * at least once a second. A crash loses the uses since the last write.
 */
export function createKeyUses(db: Database): KeyUses {
  const uses = new Map<string, KeyUse>();
  return {
    add({ orgId, keyId }, usedAt) {
      if (uses.size < MAX_KEYS || uses.has(keyId)) uses.set(keyId, { orgId, keyId, usedAt });
    },
    async write() {
      const used = [...uses.values()];
      uses.clear();
      for (let start = 0; start < used.length; start += BATCH_SIZE)
        await saveKeyUses(db, used.slice(start, start + BATCH_SIZE));
    },
  };
}
