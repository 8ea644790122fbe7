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
 * Takes the keys of everything that queued, in one transaction; when that fails for one of them, by halves, until that one stands alone and
 * fails alone. Where a key is taken, gives what is found under it.
 */
export async function claimKeys(db: Database, claims: Claim[]): Promise<Outcome<Claimed>[]> {
  try {
    return await claimTogether(db, claims);
  } catch (error) {
    // The database is away or overloaded: halves would fare no better.
    if (claims.length === 1 || isTransient(error)) return claims.map(() => ({ ok: false, error }));
    const half = claims.length >> 1;
    const first = await claimKeys(db, claims.slice(0, half));
    return [...first, ...(await claimKeys(db, claims.slice(half)))];
  }
}

async function claimTogether(db: Database, claims: Claim[]): Promise<Outcome<Claimed>[]> {
  const { inserted, taken } = await tx(db, async (tx) => {
    const rows = await insertOperations(tx, claims);
    const inserted = new Map(rows.map((row) => [row.operationId, row]));
    const lost = claims.filter((claim) => !inserted.has(claim.operationId));
    const none = new Map<string, Claimed>();
    const taken = lost.length === 0 ? none : await takeOperationsByKey(tx, lost);
    await failpoint("payment.claiming");
    return { inserted, taken };
  });
  await failpoint("payment.claimed");
  return claims.map((claim) => {
    const own = inserted.get(claim.operationId);
    const other = taken.get(operationKey(claim.orgId, claim.input.kind, claim.idempotencyKey));
    const value = own ?? other;
    return value
      ? { ok: true, value }
      : { ok: false, error: new Error(`the key of ${claim.operationId} is nobody's`) };
  });
}
