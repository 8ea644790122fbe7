import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { ZERO_WON } from "@wonrail/kit/contract/money";
import { addAccount, openWalletOf, record, walletOf, walletsOfUser, type Book } from "./book";
import type { Account, Entry, IntentOf, LedgerRequest } from "./types";

/** One wallet per organisation, user and type. Opening the same one again changes nothing. */
export function openAccount(book: Book, request: LedgerRequest, intent: IntentOf<"openAccount">): Entry {
  const { walletId, userId, type } = intent;
  const taken = book.accounts.get(walletId);
  const existing = walletsOfUser(book, request.orgId, userId).find((wallet) => wallet.type === type);
  if (taken && taken === existing) return record(book, request, [taken]);
  if (existing) throw new DomainError("WAL_001", { walletId: existing.id });
  if (taken) throw new DomainError("WAL_001", null);

  const number = book.newNumbers.shift();
  assert(number !== undefined, "every opened account needs a number");
  const account: Account = {
    number,
    id: walletId,
    orgId: request.orgId,
    type,
    userId,
    openedAtMs: book.nowMs,
    closedAtMs: null,
    balanceWon: ZERO_WON,
    heldWon: ZERO_WON,
    sequence: 0n,
    limitDay: 0,
    limitUsedWon: ZERO_WON,
    blockTypes: 0,
    frozen: "NONE",
  };
  addAccount(book, account);
  book.changes.opened.push(account);
  return record(book, request, [account]);
}

export function closeAccount(book: Book, request: LedgerRequest, intent: IntentOf<"closeAccount">): Entry {
  const account = openWalletOf(book, request.orgId, intent.walletId);
  if (account.balanceWon !== 0n || account.heldWon !== 0n) {
    throw new DomainError("WAL_003", { walletId: account.id });
  }
  account.closedAtMs = book.nowMs;
  return record(book, request, [account]);
}

/** Freezes a wallet, or ends its freeze. A closed wallet can be frozen too: a later reopening keeps it frozen. */
export function freezeAccount(book: Book, request: LedgerRequest, intent: IntentOf<"freezeAccount">): Entry {
  const account = walletOf(book, request.orgId, intent.walletId);
  account.frozen = intent.freeze;
  return record(book, request, [account]);
}

/** Whatever was deposited into it since it was closed can leave it again. One that is open stays as it is. */
export function reopenAccount(book: Book, request: LedgerRequest, intent: IntentOf<"reopenAccount">): Entry {
  const account = walletOf(book, request.orgId, intent.walletId);
  if (account.closedAtMs === null) return record(book, request, [account]);
  account.closedAtMs = null;
  return record(book, request, [account]);
}
