import type { JsonObject } from "@wonrail/kit/json";
import { won } from "@wonrail/kit/contract/money";
import type { Entry, HoldAfter, HoldState, Outcome, WalletFreeze } from "../domain/types";

/** The column `detail` of an entry: the parts of its answer that the postings do not show. */
export interface Detail {
  /** Balances that the postings do not show: of wallets without a posting, or with a hold. */
  balances?: [accountId: string, balance: string, held: string, sequence: string][];
  chargeCancelled?: [cancelled: string, remaining: string];
  paymentRefunded?: [refunded: string, remaining: string];
  hold?: [
    walletId: string,
    toAddress: string,
    amount: string,
    state: HoldState,
    requestId: string,
    sequence: string,
  ];
  toAddress?: string;
  /** Present if a payment named another wallet than the NORMAL wallet that paid. */
  payerWalletId?: string;
  freeze?: WalletFreeze;
  refusal?: JsonObject;
}

export function detailOf(outcome: Outcome): Detail | null {
  if (outcome.status === "refused") return outcome.details === null ? null : { refusal: outcome.details };
  const { entry } = outcome;
  const isDerivable = entry.balances.every(
    ({ accountId, heldWon }) =>
      heldWon === 0n && entry.postings.some((posting) => posting.accountId === accountId),
  );
  const detail: Detail = {};
  if (!isDerivable) {
    detail.balances = entry.balances.map(({ accountId, balanceWon, heldWon, sequence }) => [
      accountId,
      `${balanceWon}`,
      `${heldWon}`,
      `${sequence}`,
    ]);
  }
  if (entry.chargeCancelled !== null) {
    const { cancelledWon, remainingWon } = entry.chargeCancelled;
    detail.chargeCancelled = [`${cancelledWon}`, `${remainingWon}`];
  }
  if (entry.paymentRefunded !== null) {
    const { refundedWon, remainingWon } = entry.paymentRefunded;
    detail.paymentRefunded = [`${refundedWon}`, `${remainingWon}`];
  }
  if (entry.hold !== null) {
    const { walletId, toAddress, amountWon, state, holdRequestId, sequence } = entry.hold;
    detail.hold = [walletId, toAddress, `${amountWon}`, state, holdRequestId, `${sequence}`];
  }
  if (entry.toAddress !== null) detail.toAddress = entry.toAddress;
  if (entry.payerWalletId !== payingNormal(entry)) detail.payerWalletId = entry.payerWalletId!;
  if (entry.freeze !== null) detail.freeze = entry.freeze;
  return isEmpty(detail) ? null : detail;
}

export function toHold([walletId, toAddress, amount, state, holdRequestId, sequence]: NonNullable<
  Detail["hold"]
>): HoldAfter {
  return {
    walletId,
    toAddress,
    amountWon: won(BigInt(amount)),
    state,
    holdRequestId,
    sequence: BigInt(sequence),
  };
}

/** The NORMAL wallet that paid in a payment. Null for every other entry. */
export function payingNormal({ kind, postings }: Entry): string | null {
  if (kind !== "payment") return null;
  return (
    postings.find(({ accountType, amountWon }) => accountType === "NORMAL" && amountWon < 0n)?.accountId ??
    null
  );
}

export function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}
