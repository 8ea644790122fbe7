import type { Tx } from "@wonrail/kit/db";
import { findFacts, type AccountFacts, type User, type UserWallet } from "./accounts";

/** Number of wallets per user: one of each type. */
const ALL_OF_A_USER = 3;

export interface FactsCache {
  /** Returns existing accounts by number. Reads unknown ones from the database. */
  load(tx: Tx, orgIds: Set<string>, accountIds: Set<string>): Promise<Map<bigint, AccountFacts>>;
  /** The wallet's user, if all wallets of the user are cached; the same object for each of them. */
  userOf(orgId: string, walletId: string): KnownUser | undefined;
  /** Records that these wallets' users have no wallets besides `found`, which are cached. */
  markUsersComplete(walletIds: Iterable<string>, found: UserWallet[]): void;
  forgetAll(): void;
}

export interface KnownUser extends User {
  readonly walletIds: ReadonlySet<string>;
}

/** There can be no other wallet of this user. */
export function hasEveryWallet({ walletIds }: KnownUser): boolean {
  return walletIds.size === ALL_OF_A_USER;
}

interface CachedUser extends User {
  walletIds: Set<string>;
  /** True when all wallets of the user are cached. */
  isComplete: boolean;
}

/**
 * Caches constant facts of recently used accounts. That saves a look-up by uuid and half the
 * columns of every lock. A user is evicted as a whole, so that all wallets of a cached user are
 * known.
 */
export function createFactsCache(maxAccounts: number): FactsCache {
  const known = new Map<string, { facts: AccountFacts; user: CachedUser | undefined }>();
  const users = new Map<string, CachedUser>();
  const remember = (facts: AccountFacts): void => {
    if (known.size >= maxAccounts) forget(known.values().next().value!);
    const user = facts.userId === null ? undefined : ownerOf(facts.orgId, facts.userId);
    user?.walletIds.add(facts.id);
    known.set(facts.id, { facts, user });
  };
  const ownerOf = (orgId: string, userId: string): CachedUser => {
    const key = userKey({ orgId, userId });
    let user = users.get(key);
    if (!user) users.set(key, (user = { orgId, userId, walletIds: new Set(), isComplete: false }));
    return user;
  };
  const forget = ({ facts, user }: { facts: AccountFacts; user: CachedUser | undefined }): void => {
    known.delete(facts.id);
    if (!user) return;
    for (const id of user.walletIds) known.delete(id);
    users.delete(userKey(user));
  };
  return {
    async load(tx, orgIds, accountIds) {
      const found = new Map<bigint, AccountFacts>();
      const unknown: string[] = [];
      for (const id of accountIds) {
        const facts = known.get(id)?.facts;
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
    userOf(orgId, walletId) {
      const user = known.get(walletId)?.user;
      if (user?.orgId !== orgId) return undefined;
      return user.isComplete || hasEveryWallet(user) ? user : undefined;
    },
    markUsersComplete(walletIds, found) {
      // A full cache may have evicted some of these wallets for others.
      const incomplete = new Set(found.filter(({ id }) => !known.has(id)).map(userKey));
      for (const walletId of walletIds) {
        const user = known.get(walletId)?.user;
        if (user && !incomplete.has(userKey(user))) user.isComplete = true;
      }
    },
    forgetAll() {
      known.clear();
      users.clear();
    },
  };
}

function userKey({ orgId, userId }: User): string {
  return `${orgId} ${userId}`;
}
