import type { Tx } from "@wonrail/kit/db";
import { findFacts, type AccountFacts, type UserWallet } from "./accounts";

/** How many wallets a user can have: one of each type. */
const ALL_OF_A_USER = 3;

export interface FactsCache {
  /** Those that exist, by number. Asks the database for what it does not know yet. */
  of(tx: Tx, orgIds: Set<string>, accountIds: Set<string>): Promise<Map<bigint, AccountFacts>>;
  /** The wallets of this wallet's user when they were last asked for, and whether there can be no other. */
  walletsOfUser(orgId: string, walletId: string): { ids: ReadonlySet<string>; all: boolean } | undefined;
  /** The users of these wallets have no other wallets than `found`, which should be known by now. */
  knowsUsersOf(walletIds: Iterable<string>, found: UserWallet[]): void;
  forgetAll(): void;
}

/**
 * What never changes about the accounts that were used last: saves a look-up by uuid and half the columns of every lock. A user is forgotten
 * as a whole: a wallet that is known without the others would not bring them back when they are asked for.
 */
export function createFactsCache(maxAccounts: number): FactsCache {
  const known = new Map<string, AccountFacts>();
  const byUser = new Map<string, { ids: Set<string>; asked: boolean }>();
  const remember = (facts: AccountFacts): void => {
    if (known.size >= maxAccounts) forget(known.values().next().value!);
    known.set(facts.id, facts);
    const key = userKey(facts);
    if (key === undefined) return;
    const user = byUser.get(key);
    if (user) user.ids.add(facts.id);
    else byUser.set(key, { ids: new Set([facts.id]), asked: false });
  };
  const forget = (facts: AccountFacts): void => {
    known.delete(facts.id);
    const key = userKey(facts);
    if (key === undefined) return;
    for (const id of byUser.get(key)?.ids ?? []) known.delete(id);
    byUser.delete(key);
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
      const user = facts?.orgId === orgId ? byUser.get(userKey(facts) ?? "") : undefined;
      if (!user) return undefined;
      const all = user.ids.size === ALL_OF_A_USER;
      return all || user.asked ? { ids: user.ids, all } : undefined;
    },
    knowsUsersOf(walletIds, found) {
      // In a cache that is full some may have been forgotten for the others.
      const incomplete = new Set(found.filter(({ id }) => !known.has(id)).map(userKey));
      for (const walletId of walletIds) {
        const facts = known.get(walletId);
        const key = facts && userKey(facts);
        const user = key === undefined || incomplete.has(key) ? undefined : byUser.get(key);
        if (user) user.asked = true;
      }
    },
    forgetAll() {
      known.clear();
      byUser.clear();
    },
  };
}

function userKey({ orgId, userId }: Pick<AccountFacts, "orgId" | "userId">): string | undefined {
  return userId === null ? undefined : `${orgId} ${userId}`;
}
