import { IntentKind } from "@wonrail/proto/ledger/v1/intents";
import { type Entry } from "@wonrail/proto/ledger/v1/ledger";
import { assertAmount, readAccount, readSignedAmount, readWallet } from "./entryFields";
import {
  isWallet,
  type Line,
  operationIdOf,
  operationIdOfHold,
  type Step,
  stepOfHold,
  stepsOf,
} from "./steps";

/** An entry's order for the chain. */
export interface EntryOrder {
  ledgerRef: string;
  orgSequence: bigint;
  relatedId: string;
  kind: string;
  /** Empty if the entry could not be read. */
  operationId: string;
  /** Empty without work on the chain. */
  steps: Step[];
  /** All wallets of the entry. */
  wallets: string[];
  postedAt: Date;
}

/** The newest line of a wallet. */
export interface WalletLine {
  walletId: string;
  sequence: bigint;
}

/**
 * Returns an entry's order for the chain; null if it neither moves nor holds money. Throws if it is
 * malformed.
 */
export function readEntry(entry: Entry): EntryOrder | null {
  if (entry.kind === IntentKind.PLACE_HOLD) return readHold(entry);
  return entry.postings.length === 0 ? null : readPostings(entry);
}

/** The known part of an entry that `readEntry` cannot read. */
export function unreadable(entry: Entry): EntryOrder {
  const wallets = entry.postings.map(({ accountId }) => accountId).filter(isWallet);
  const hold = entry.result?.$case === "hold" ? [entry.result.value.walletId] : [];
  return { ...namesOf(entry), operationId: "", steps: [], wallets: [...new Set([...wallets, ...hold])] };
}

/** The newest line of each wallet in these entries. Malformed lines are left out. */
export function walletLinesOf(entries: readonly Entry[]): WalletLine[] {
  const newest = new Map<string, bigint>();
  for (const { postings } of entries) {
    for (const { accountId, sequence } of postings)
      if (isWallet(accountId) && sequence > (newest.get(accountId) ?? 0n)) newest.set(accountId, sequence);
  }
  return [...newest].map(([walletId, sequence]) => ({ walletId, sequence }));
}

function readHold(entry: Entry): EntryOrder {
  if (entry.result?.$case !== "hold") throw new Error("a hold entry has no hold");
  const { holdRequestId, ...hold } = entry.result.value;
  const [walletId, toAddress] = [readWallet(hold.walletId), readAccount(hold.toAddress)];
  const amountWon = assertAmount(readSignedAmount(hold.amountWon));
  return {
    ...namesOf(entry),
    operationId: operationIdOfHold(holdRequestId),
    steps: [stepOfHold({ holdRequestId, walletId, toAddress, amountWon })],
    wallets: [walletId],
  };
}

function readPostings(entry: Entry): EntryOrder {
  const lines = entry.postings.map(({ accountId, amountWon, sequence }): Line => ({
    accountId: isWallet(accountId) ? readWallet(accountId) : accountId,
    amountWon: readSignedAmount(amountWon),
    sequence,
  }));
  // The chain has moved these before the ledger booked them.
  const isOnChain = entry.kind === IntentKind.CREDIT_EXTERNAL || entry.kind === IntentKind.POST_HOLD;
  const steps = isOnChain ? [] : stepsOf(lines);
  for (const { amountWon } of steps) assertAmount(amountWon);
  const wallets = new Set(lines.map(({ accountId }) => accountId).filter(isWallet));
  return { ...namesOf(entry), operationId: operationIdOf(lines), steps, wallets: [...wallets] };
}

function namesOf({ requestId, orgSequence, relatedId, kind, postedAt }: Entry) {
  return { ledgerRef: requestId, orgSequence, relatedId, kind, postedAt: postedAt ?? new Date() };
}
