import { type Database, isTransient, tx } from "@wonrail/kit/db";
import { failpoint } from "@wonrail/kit/failpoint";
import { type Outcome } from "@wonrail/kit/lane";
import {
  type Claim,
  type Claimed,
  insertOperations,
  operationKey,
  takeOperationsByKey,
} from "../store/operations";

/**
 * Takes the keys of everything that queued, in one statement; when that fails for one of them, by halves, until that one stands alone and
 * fails alone. Where a key is taken, gives what is found under it.
 */
export async function claimKeys(db: Database, claims: Claim[]): Promise<Outcome<Claimed>[]> {
  let inserted: Map<string, Claimed>;
  try {
    await failpoint("payment.claiming");
    inserted = new Map((await insertOperations(db, claims)).map((row) => [row.operationId, row]));
    await failpoint("payment.claimed");
  } catch (error) {
    // The database is away or overloaded: halves would fare no better.
    if (claims.length === 1 || isTransient(error)) return claims.map(() => ({ ok: false, error }));
    const half = claims.length >> 1;
    const first = await claimKeys(db, claims.slice(0, half));
    return [...first, ...(await claimKeys(db, claims.slice(half)))];
  }
  const lost = claims.filter(({ operationId }) => !inserted.has(operationId));
  const taken = lost.length === 0 ? [] : await takeOver(db, lost);
  const others = new Map(lost.map((claim, index) => [claim, taken[index]!]));
  return claims.map((claim) => {
    const value = inserted.get(claim.operationId);
    return value ? { ok: true, value } : others.get(claim)!;
  });
}

/** What is found under keys that are somebody's. */
async function takeOver(db: Database, claims: Claim[]): Promise<Outcome<Claimed>[]> {
  try {
    const taken = await tx(db, (tx) => takeOperationsByKey(tx, claims));
    return claims.map(({ orgId, operationId, idempotencyKey, bodyHash, input }) => {
      const key = operationKey(orgId, input.kind, idempotencyKey);
      const value = taken.get(key);
      if (!value) return { ok: false, error: new Error(`the key of ${operationId} is nobody's`) };
      // Of several that take up the same one the first begins it; who has another body begins nothing.
      if (value.bodyHash.equals(bodyHash)) taken.set(key, { ...value, isBegun: true });
      return { ok: true, value };
    });
  } catch (error) {
    return claims.map(() => ({ ok: false, error }));
  }
}
