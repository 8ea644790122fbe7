import type { Database } from "@wonrail/kit/db";
import type { Outcome } from "../domain/types";
import { findEntries } from "../store/entries";
import { findKey } from "../store/requestKeys";

export interface OutcomeOfKey {
  outcome: Outcome;
  bodyHash: string;
}

/** Returns the outcome of an idempotency key, or nothing. */
export async function findByKey(
  db: Database,
  orgId: string,
  key: { scope: string; key: string },
): Promise<OutcomeOfKey | undefined> {
  const used = await findKey(db, orgId, key);
  if (!used) return undefined;
  const [found] = await findEntries(db, [used]);
  return found && { outcome: found.answer.outcome, bodyHash: used.bodyHash };
}
