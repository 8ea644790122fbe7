import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { ZERO_WON, basisPointsOf, won, type Won } from "@wonrail/kit/contract/money";
import {
  accountOfPosting,
  availableOf,
  canPay,
  canReceive,
  minus,
  orgAccountOf,
  payingWalletOf,
  post,
  receivingWalletOf,
  requireAvailable,
  requirePaying,
  requireReceiving,
  walletsOfUser,
  type Book,
  type Move,
} from "./book";
import { paymentMade } from "./results";
import {
  requestKey,
  type Account,
  type Entry,
  type IntentOf,
  type LedgerRequest,
  type WalletType,
} from "./types";
import { waterfall } from "./waterfall";

/** The payer's open wallets in the order of the waterfall, to the receiver; the accrual on the normal part to the payer's INCENTIVE wallet. */
export function pay(book: Book, request: LedgerRequest, intent: IntentOf<"payment">): Entry {
  const { payerWalletId, receiverWalletId, amountWon, incentiveAmountWon, accrualRateBps } = intent;
  const payer = payingWalletOf(book, request.orgId, payerWalletId);
  const receiver = receivingWalletOf(book, request.orgId, receiverWalletId);
  if (receiver.type !== "NORMAL")
    throw new DomainError("PAY_005", { walletId: receiver.id, reason: "wallet_type" });
  if (receiver.userId === payer.userId)
    throw new DomainError("PAY_005", { walletId: receiver.id, reason: "same_user" });
  const wallets = walletsOfUser(book, request.orgId, payer.userId!);
  const government = payingOfType(wallets, "GOVERNMENT");
  const incentive = payingOfType(wallets, "INCENTIVE");
  const normal = payingOfType(wallets, "NORMAL");
  const available = {
    governmentWon: availableIn(government),
    incentiveWon: availableIn(incentive),
    normalWon: availableIn(normal),
  };
  const split = waterfall(amountWon, available, incentiveAmountWon);
  const accrualWon = accrualOf(split.normalWon, accrualRateBps, wallets);
  const entry = post(book, request, [
    ...move(government, "PAYMENT", minus(split.governmentWon)),
    ...move(incentive, "INCENTIVE_USE", minus(split.incentiveWon)),
    ...move(normal, "PAYMENT", minus(split.normalWon)),
    ...move(receiver, "PAYMENT", amountWon),
    ...accrual(book, request.orgId, incentive, accrualWon),
  ]);
  entry.payerWalletId = payerWalletId;
  return entry;
}

/** Back to the wallets it came from, whole and once. What the INCENTIVE wallet no longer has of the accrual is kept from the normal part. */
export function cancelPayment(book: Book, request: LedgerRequest, intent: IntentOf<"cancelPayment">): Entry {
  const { paymentRequestId } = intent;
  const key = requestKey(request.orgId, paymentRequestId);
  const original = book.requests.get(key)?.outcome;
  if (original?.status !== "posted" || original.entry.kind !== "payment") {
    throw new DomainError("PAY_004", null);
  }
  if (book.cancelledPayments.has(key)) throw new DomainError("PAY_003", { paymentId: paymentRequestId });

  const { government, incentive, normal, receiver } = walletsOfPayment(book, original.entry);
  const { governmentWon, incentiveWon, normalWon, incentiveAccruedWon } = paymentMade(
    original.entry.postings,
  );
  const amountWon = won(governmentWon + incentiveWon + normalWon);
  requirePaying(receiver);
  requireAvailable(receiver, amountWon, "PAY_001");
  const clawedBackWon = clawBack(incentive, incentiveWon, incentiveAccruedWon);
  const keptWon = won(incentiveAccruedWon - clawedBackWon);
  const moves = [
    ...move(receiver, "PAYMENT_CANCEL", minus(amountWon)),
    ...move(government, "PAYMENT_CANCEL", governmentWon),
    ...move(incentive, "INCENTIVE_USE_CANCEL", incentiveWon),
    ...move(normal, "PAYMENT_CANCEL", won(normalWon - keptWon)),
    ...move(incentive, "INCENTIVE_CANCEL", minus(clawedBackWon)),
    ...fundMove(book, request.orgId, "INCENTIVE_CANCEL", incentiveAccruedWon),
  ];
  for (const { account, amountWon } of moves) if (amountWon > 0n) requireReceiving(account);
  const entry = post(book, request, moves);
  book.cancelledPayments.add(key);
  book.changes.cancelledPayments.push({
    orgId: request.orgId,
    paymentRequestId,
    cancelRequestId: request.requestId,
  });
  entry.original = original.entry;
  return entry;
}

/** Rounded down. Nothing accrues to a closed wallet; a missing one must be made before money that was promised gets lost. */
function accrualOf(normalWon: Won, rateBps: number, wallets: Account[]): Won {
  const accrualWon = basisPointsOf(normalWon, rateBps);
  if (accrualWon === 0n) return ZERO_WON;
  const incentive = wallets.find(({ type }) => type === "INCENTIVE");
  if (!incentive) throw new DomainError("WAL_002", { walletType: "INCENTIVE" });
  return canReceive(incentive) ? accrualWon : ZERO_WON;
}

function accrual(book: Book, orgId: string, incentive: Account | undefined, amountWon: Won): Move[] {
  return [
    ...fundMove(book, orgId, "INCENTIVE", minus(amountWon)),
    ...move(incentive, "INCENTIVE", amountWon),
  ];
}

function fundMove(book: Book, orgId: string, type: Move["type"], amountWon: Won): Move[] {
  return amountWon === 0n ? [] : move(orgAccountOf(book, orgId, "ORG_INCENTIVE"), type, amountWon);
}

function clawBack(incentive: Account | undefined, restoredWon: Won, accruedWon: Won): Won {
  if (!incentive || !canPay(incentive)) return ZERO_WON;
  const availableWon = availableOf(incentive) + restoredWon;
  return availableWon < accruedWon ? won(availableWon) : accruedWon;
}

function walletsOfPayment(book: Book, { postings }: Entry) {
  const wallet = (type: WalletType, incoming: boolean) => {
    const posting = postings.find(
      (posting) => posting.accountType === type && posting.amountWon > 0n === incoming,
    );
    return posting && accountOfPosting(book, posting);
  };
  const receiver = wallet("NORMAL", true);
  assert(receiver, "a payment has a receiver");
  return {
    government: wallet("GOVERNMENT", false),
    incentive: wallet("INCENTIVE", false) ?? wallet("INCENTIVE", true),
    normal: wallet("NORMAL", false),
    receiver,
  };
}

function payingOfType(wallets: Account[], type: WalletType): Account | undefined {
  return wallets.find((wallet) => wallet.type === type && canPay(wallet));
}

function availableIn(wallet: Account | undefined): Won {
  return wallet ? availableOf(wallet) : ZERO_WON;
}

function move(account: Account | undefined, type: Move["type"], amountWon: Won): Move[] {
  if (amountWon === 0n) return [];
  assert(account, "only a wallet that is there takes part in a payment");
  return [{ account, type, amountWon }];
}
