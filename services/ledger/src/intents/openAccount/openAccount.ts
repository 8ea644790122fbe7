import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { ZERO_WON } from "@wonrail/kit/contract/money";
import { isUserId, USER_ID_FORM } from "@wonrail/kit/contract/userId";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import { addAccount, record, walletsOfUser, type Book } from "../../domain/book";
import type { OpenAccount } from "../../domain/intents";
import type { WalletType } from "../../domain/accountTypes";
import type { Account, Entry, LedgerRequest } from "../../domain/types";
import { check, id } from "../fields";
import type { IntentModule } from "../intent";

const WALLET_TYPES: Partial<Record<AccountType, WalletType>> = {
  [AccountType.NORMAL]: "NORMAL",
  [AccountType.INCENTIVE]: "INCENTIVE",
  [AccountType.GOVERNMENT]: "GOVERNMENT",
};

export const openAccount: IntentModule<"openAccount"> = {
  poster: "wallet",
  read({ walletId, userId, type }) {
    const walletType = WALLET_TYPES[type];
    check(walletType !== undefined, "type", "must be a wallet's type");
    check(isUserId(userId), "userId", USER_ID_FORM);
    return { kind: "openAccount", walletId: id("wal", walletId, "walletId"), userId, type: walletType };
  },
  requiredState: ({ walletId, userId }) => ({ walletIds: [walletId], userId, opensAccount: true }),
  content: ({ walletId, userId, type }) => [walletId, userId, type],
  decide: open,
};

/** A user has one wallet of each type in an organisation. Opening the same wallet again changes nothing. */
function open(book: Book, request: LedgerRequest, { walletId, userId, type }: OpenAccount): Entry {
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
    frozenByChain: "NONE",
    frozenByOperator: "NONE",
  };
  addAccount(book, account);
  book.changes.opened.push(account);
  return record(book, request, [account]);
}
