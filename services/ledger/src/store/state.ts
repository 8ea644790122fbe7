import type { Tx } from "@wonrail/kit/db";
import { creditKey, type State } from "../domain/book";
import type { Won } from "@wonrail/kit/contract/money";
import { requiredStateOf } from "../intents";
import type { RequiredState } from "../intents/intent";
import { requestKey, type Account, type Hold, type LedgerRequest, type RequestRef } from "../domain/types";
import {
  findOtherWallets,
  findWalletsOfUsers,
  lockAccounts,
  orgAccountId,
  reserveNumbers,
  type User,
  type UserWallet,
} from "./accounts";
import { hasEveryWallet, type FactsCache } from "./factsCache";
import { findCancelledCharges } from "./cancelledCharges";
import { findCancelledPayments } from "./cancelledPayments";
import { findRefundedPayments } from "./refundedPayments";
import { findCredits, type Credit } from "./credits";
import { answersByKey, findEntries, findKnown, type StoredRequest } from "./entries";
import { findHolds } from "./holds";
import { StaleStateError } from "./staleState";
import { lockHeads, lockHeadsUnlessMissed } from "./journalHeads";
import { findKeys } from "./requestKeys";

/** References of a batch's requests, gathered by table. */
interface Refs {
  orgIds: Set<string>;
  accountIds: Set<string>;
  userWallets: { orgId: string; walletId: string }[];
  users: User[];
  /**
   * Wallets of `userWallets` whose users' other wallets are unknown and must be read before the
   * locks.
   */
  walletsToLookUp: { orgId: string; walletId: string }[];
  /** The wallets found for `walletsToLookUp` and `users`. */
  walletsOfUsers: UserWallet[];
  /** Users of `userWallets` who may have got another wallet since the read. */
  usersToRecheck: Set<User>;
  charges: RequestRef[];
  payments: RequestRef[];
  holds: RequestRef[];
  logs: { orgId: string; chainLogId: string }[];
  opens: number;
}

/**
 * Reads the whole state of a batch's decision. First the constant facts that name the accounts,
 * then the locks, and then, in a snapshot younger than the locks, everything that another batch may
 * have changed.
 */
export async function loadState(
  tx: Tx,
  cache: FactsCache,
  requests: readonly LedgerRequest[],
  onLocked: () => void,
): Promise<Omit<State, "chargeRoomWon" | "clocks">> {
  const refs = gatherRefs(requests);
  await addWalletsOfUsers(tx, cache, refs);
  await addAccountsOfHolds(tx, refs);
  const originals = await findOriginals(tx, refs);
  const facts = await cache.load(tx, refs.orgIds, refs.accountIds);
  cache.markUsersComplete(
    refs.walletsToLookUp.map(({ walletId }) => walletId),
    refs.walletsOfUsers,
  );
  const locked = lockAccounts(tx, facts);
  locked.then(() => onLocked()).catch(() => undefined);
  // Sent together and executed in order, each with its own snapshot: all but the first see the
  // rows that the locks waited for.
  const [
    accounts,
    before,
    usedKeys,
    missed,
    credits,
    holds,
    cancelledCharges,
    cancelledPayments,
    refundedPayments,
    newNumbers,
    firstHeads,
  ] = await Promise.all([
    locked,
    findKnown(tx, requests),
    findKeys(tx, requests),
    refs.usersToRecheck.size === 0 ? [] : findOtherWallets(tx, [...refs.usersToRecheck], refs.accountIds),
    refs.logs.length === 0 ? [] : findCredits(tx, refs.logs),
    refs.holds.length === 0 ? [] : findHolds(tx, refs.holds),
    refs.charges.length === 0 ? new Map<string, Won>() : findCancelledCharges(tx, refs.charges),
    refs.payments.length === 0 ? new Set<string>() : findCancelledPayments(tx, refs.payments),
    refs.payments.length === 0 ? new Map<string, Won>() : findRefundedPayments(tx, refs.payments),
    refs.opens === 0 ? [] : reserveNumbers(tx, refs.opens),
    refs.usersToRecheck.size === 0
      ? lockHeads(tx, refs.orgIds)
      : lockHeadsUnlessMissed(tx, refs.orgIds, [...refs.usersToRecheck], refs.accountIds),
  ]);
  const late = missed.length === 0 ? undefined : await cache.load(tx, refs.orgIds, new Set(missed));
  // The clock is read again after the last lock, whichever batch held it.
  const [more, { nowMs, known }] = late
    ? await Promise.all([lockAccounts(tx, late), findKnown(tx, requests)])
    : [[], before];
  // The last lock, in the same message as the others unless a wallet was missing or newly opened.
  const heads = firstHeads.size === refs.orgIds.size ? firstHeads : await lockHeads(tx, refs.orgIds);
  requireFresh(refs, heads, [...accounts, ...more], holds, originals);
  const answered = await findEntries(tx, [...known, ...usedKeys, ...credits]);
  return {
    nowMs,
    accounts: [...accounts, ...more],
    requests: answersByKey([...originals, ...answered]),
    keys: new Map(usedKeys.map(({ name, requestId, bodyHash }) => [name, { requestId, bodyHash }])),
    heads,
    holds: new Map(holds.map((hold) => [requestKey(hold.orgId, hold.requestId), hold])),
    cancelledCharges,
    cancelledPayments,
    refundedPayments,
    credits: creditsByLog(credits),
    newNumbers,
  };
}

function creditsByLog(credits: Credit[]): Map<string, string> {
  return new Map(
    credits.map(({ orgId, chainLogId, requestId }) => [
      creditKey(orgId, chainLogId),
      requestKey(orgId, requestId),
    ]),
  );
}

/** A hold placed after the first read has an unlocked account or an unread entry. */
function requireFresh(
  refs: Refs,
  heads: Map<string, bigint>,
  accounts: Account[],
  holds: Hold[],
  originals: StoredRequest[],
): void {
  if (heads.size !== refs.orgIds.size) throw new StaleStateError("an organisation has no journal head");
  const open = holds.filter(({ state }) => state === "open");
  if (open.length === 0) return;
  const locked = new Set(accounts.map(({ id }) => id));
  const loaded = new Set(originals.map(({ orgId, requestId }) => requestKey(orgId, requestId)));
  const isFresh = open.every(
    ({ orgId, requestId, accountId }) => locked.has(accountId) && loaded.has(requestKey(orgId, requestId)),
  );
  if (!isFresh) throw new StaleStateError("a hold was placed after the first look");
}

function gatherRefs(requests: readonly LedgerRequest[]): Refs {
  const refs: Refs = {
    orgIds: new Set(),
    accountIds: new Set(),
    userWallets: [],
    users: [],
    walletsToLookUp: [],
    walletsOfUsers: [],
    usersToRecheck: new Set(),
    charges: [],
    payments: [],
    holds: [],
    logs: [],
    opens: 0,
  };
  for (const request of requests) addRefs(refs, request.orgId, requiredStateOf(request));
  return refs;
}

function addRefs(refs: Refs, orgId: string, required: RequiredState): void {
  refs.orgIds.add(orgId);
  for (const walletId of required.walletIds ?? []) refs.accountIds.add(walletId);
  for (const type of required.orgAccounts ?? []) refs.accountIds.add(orgAccountId(orgId, type));
  const { userOfWalletId, userId, chargeRequestId, paymentRequestId, holdRequestId, chainLogId } = required;
  if (userOfWalletId !== undefined) refs.userWallets.push({ orgId, walletId: userOfWalletId });
  if (userId !== undefined) refs.users.push({ orgId, userId });
  if (holdRequestId !== undefined) refs.holds.push({ orgId, requestId: holdRequestId });
  if (chainLogId !== undefined) refs.logs.push({ orgId, chainLogId });
  if (chargeRequestId !== undefined) refs.charges.push({ orgId, requestId: chargeRequestId });
  if (paymentRequestId !== undefined) refs.payments.push({ orgId, requestId: paymentRequestId });
  if (required.opensAccount) refs.opens += 1;
}

async function addWalletsOfUsers(tx: Tx, cache: FactsCache, refs: Refs): Promise<void> {
  const { accountIds } = refs;
  refs.walletsToLookUp = refs.userWallets.filter(({ orgId, walletId }) => {
    const user = cache.userOf(orgId, walletId);
    if (!user) return true;
    for (const id of user.walletIds) accountIds.add(id);
    // A user with a wallet of each type cannot get another one. For other users, a later query looks for new wallets.
    if (!hasEveryWallet(user)) refs.usersToRecheck.add(user);
    return false;
  });
  if (refs.walletsToLookUp.length === 0 && refs.users.length === 0) return;
  refs.walletsOfUsers = await findWalletsOfUsers(tx, refs.walletsToLookUp, refs.users);
  for (const { id } of refs.walletsOfUsers) accountIds.add(id);
}

async function addAccountsOfHolds(tx: Tx, { holds, accountIds }: Refs): Promise<void> {
  if (holds.length === 0) return;
  for (const { accountId } of await findHolds(tx, holds)) accountIds.add(accountId);
}

/**
 * Finds the cancelled entries, and those whose holds end. The batch locks the accounts of their
 * postings.
 */
async function findOriginals(tx: Tx, refs: Refs): Promise<StoredRequest[]> {
  const originals = await findEntries(tx, [...refs.charges, ...refs.payments, ...refs.holds]);
  for (const { answer } of originals) {
    if (answer.outcome.status === "refused") continue;
    for (const { accountId } of answer.outcome.entry.postings) refs.accountIds.add(accountId);
  }
  return originals;
}
