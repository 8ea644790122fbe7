import type { Tx } from "@wonrail/kit/db";
import { findFacts, type AccountFacts } from "./accounts";

export interface FactsCache {
  /** Those that exist, by number. Asks the database for what it does not know yet. */
  of(tx: Tx, orgIds: Set<string>, accountIds: Set<string>): Promise<Map<bigint, AccountFacts>>;
}

/** What never changes about the accounts that were used last: saves a look-up by uuid and half the columns of every lock. */
export function createFactsCache(maxAccounts: number): FactsCache {
  const known = new Map<string, AccountFacts>();
  const remember = (facts: AccountFacts): void => {
    if (known.size >= maxAccounts) known.delete(known.keys().next().value!);
    known.set(facts.id, facts);
  };
  return {
    async of(tx, orgIds, accountIds) {
      const found = new Map<bigint, AccountFacts>();
      const unknown: string[] = [];
      for (const id of accountIds) {
        const facts = known.get(id);
        if (facts) found.set(facts.number, facts);
        else unknown.push(id);
      }
      if (unknown.length === 0) return found;
      for (const facts of await findFacts(tx, [...orgIds], unknown)) {
        found.set(facts.number, facts);
        remember(facts);
      }
      return found;
    },
  };
}
