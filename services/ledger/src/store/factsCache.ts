import type { Tx } from "@wonrail/kit/db";
import { findFacts, type AccountFacts } from "./accounts";

/** How many wallets a user can have: one of each type. */
const ALL_OF_A_USER = 3;

export interface FactsCache {
  /** Those that exist, by number. Asks the database for what it does not know yet. */
  of(tx: Tx, orgIds: Set<string>, accountIds: Set<string>): Promise<Map<bigint, AccountFacts>>;
  /** The wallets of this wallet's user that are known, if it is known itself; and whether they are all that there can be. */
  walletsOfUser(orgId: string, walletId: string): { ids: ReadonlySet<string>; all: boolean } | undefined;
}

/** What never changes about the accounts that were used last: saves a look-up by uuid and half the columns of every lock. */
export function createFactsCache(maxAccounts: number): FactsCache {
  const known = new Map<string, AccountFacts>();
  const byUser = new Map<string, Set<string>>();
  const remember = (facts: AccountFacts): void => {
    if (known.size >= maxAccounts) forget(known.values().next().value!);
    known.set(facts.id, facts);
    const key = userKey(facts);
    if (key === undefined) return;
    const wallets = byUser.get(key);
    if (wallets) wallets.add(facts.id);
    else byUser.set(key, new Set([facts.id]));
  };
  const forget = (facts: AccountFacts): void => {
    known.delete(facts.id);
    const key = userKey(facts);
    if (key !== undefined) byUser.delete(key);
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
    walletsOfUser(orgId, walletId) {
      const facts = known.get(walletId);
      if (facts?.orgId !== orgId) return undefined;
      const ids = byUser.get(userKey(facts) ?? "");
      return ids && { ids, all: ids.size === ALL_OF_A_USER };
    },
  };
}

function userKey({ orgId, userId }: AccountFacts): string | undefined {
  return userId === null ? undefined : `${orgId} ${userId}`;
}
