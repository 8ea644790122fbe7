import { formatWon, won, type Won } from "@wonrail/kit/money";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import {
  AccountStatus,
  HoldStatus,
  type Account as AccountMessage,
  type Entry as EntryMessage,
  type GetTotalsResponse,
  type StatementLine as LineMessage,
} from "@wonrail/proto/ledger/v1/ledger";
import { entryIdOf, kindMessage, outcomeMessage, postingMessage } from "../commands/answer";
import { seoulDay, usedOn } from "../domain/limits";
import { isOrgAccount, type Account, type Hold } from "../domain/types";
import type { TypeTotal } from "../store/accounts";
import type { StatementLine } from "../store/statements";
import type { FoundEntry } from "./getEntries";

/** What is asked, in the contract's words. */

export function accountMessage(account: Account): AccountMessage {
  const { closedAtMs, balanceWon, heldWon } = account;
  return {
    accountId: account.id,
    type: AccountType[account.type],
    userId: account.userId ?? undefined,
    status: closedAtMs === null ? AccountStatus.OPEN : AccountStatus.CLOSED,
    balanceWon: formatWon(balanceWon),
    heldWon: formatWon(heldWon),
    availableWon: formatWon(won(balanceWon - heldWon)),
    sequence: account.sequence,
    transferredTodayWon: formatWon(usedOn(account, seoulDay(Date.now()))),
    openedAt: new Date(account.openedAtMs),
    closedAt: closedAtMs === null ? undefined : new Date(closedAtMs),
  };
}

export function lineMessage(line: StatementLine): LineMessage {
  return {
    entryId: entryIdOf(line.requestId),
    requestId: line.requestId,
    relatedId: line.relatedId ?? line.requestId,
    posting: postingMessage(line.posting),
    counterpartyAccountIds: line.counterpartyIds,
    memo: line.memo ?? undefined,
    postedAt: new Date(line.postedAtMs),
  };
}

export function entryMessage({ request, hold }: FoundEntry): EntryMessage {
  return {
    entryId: entryIdOf(request.requestId),
    requestId: request.requestId,
    relatedId: request.relatedId ?? request.requestId,
    memo: request.memo ?? undefined,
    postedAt: new Date(request.postedAtMs),
    kind: kindMessage(request.kind),
    outcome: outcomeMessage(request.answer.outcome),
    hold: hold === null ? undefined : holdMessage(hold),
  };
}

const holdStatuses = { open: HoldStatus.OPEN, posted: HoldStatus.POSTED, voided: HoldStatus.VOIDED };

function holdMessage({ accountId, toAddress, amountWon, state }: Hold): EntryMessage["hold"] {
  return { walletId: accountId, toAddress, amountWon: formatWon(amountWon), status: holdStatuses[state] };
}

export function totalsMessage(totals: TypeTotal[]): GetTotalsResponse {
  const wallets = totals.filter(({ type }) => !isOrgAccount(type));
  return {
    totals: totals.map(({ type, accounts, balanceWon }) => ({
      type: AccountType[type],
      accounts,
      balanceWon: formatWon(balanceWon),
    })),
    walletsWon: formatWon(sum(wallets.map(({ balanceWon }) => balanceWon))),
    heldWon: formatWon(sum(wallets.map(({ heldWon }) => heldWon))),
  };
}

function sum(amounts: Won[]): Won {
  return won(amounts.reduce((total, amount) => total + amount, 0n));
}
