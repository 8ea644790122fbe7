import { DomainError } from "@wonrail/kit/contract/errors";
import { ZERO_WON, basisPointsOf, parseWon, type Won } from "@wonrail/kit/contract/money";
import {
  availableOf,
  canPay,
  canReceive,
  minus,
  payingWalletOf,
  post,
  receivingWalletOf,
  walletsOfUser,
  type Book,
} from "../../domain/book";
import type { Payment } from "../../domain/intents";
import { fundMove, move } from "../../domain/paymentMoves";
import type { WalletType } from "../../domain/accountTypes";
import type { Account, Entry, LedgerRequest } from "../../domain/types";
import { check, id, positive } from "../fields";
import type { IntentModule } from "../intent";
import { splitPayment } from "./waterfall";

const MAX_RATE_BPS = 10_000;

export const payment: IntentModule<"payment"> = {
  poster: "payment",
  read({ payerWalletId, receiverWalletId, amountWon, incentiveAmountWon, accrualRateBps }) {
    check(accrualRateBps <= MAX_RATE_BPS, "accrualRateBps", `must be at most ${MAX_RATE_BPS}`);
    return {
      kind: "payment",
      payerWalletId: id("wal", payerWalletId, "payerWalletId"),
      receiverWalletId: id("wal", receiverWalletId, "receiverWalletId"),
      amountWon: positive(amountWon, "amountWon"),
      incentiveAmountWon:
        incentiveAmountWon === undefined ? null : parseWon(incentiveAmountWon, "incentiveAmountWon"),
      accrualRateBps,
    };
  },
  requiredState: ({ payerWalletId, receiverWalletId, accrualRateBps }) => ({
    walletIds: [payerWalletId, receiverWalletId],
    orgAccounts: accrualRateBps > 0 ? ["ORG_INCENTIVE"] : [],
    userOfWalletId: payerWalletId,
  }),
  content: ({ payerWalletId, receiverWalletId, amountWon, incentiveAmountWon }) => [
    payerWalletId,
    receiverWalletId,
    amountWon.toString(),
    incentiveAmountWon?.toString() ?? null,
  ],
  decide: pay,
};

/**
 * Moves the amount from the payer's wallets to the receiver. The payer's INCENTIVE wallet gets the accrual
 * on the normal part. A closed or frozen wallet of the payer pays nothing.
 */
function pay(book: Book, request: LedgerRequest, intent: Payment): Entry {
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
  const split = splitPayment(amountWon, available, incentiveAmountWon);
  const accrual = accrualOf(split.normalWon, accrualRateBps, wallets);
  const entry = post(book, request, [
    ...move(government, "PAYMENT", minus(split.governmentWon)),
    ...move(incentive, "INCENTIVE_USE", minus(split.incentiveWon)),
    ...move(normal, "PAYMENT", minus(split.normalWon)),
    ...move(receiver, "PAYMENT", amountWon),
    ...fundMove(book, request.orgId, "INCENTIVE", minus(accrual.amountWon)),
    ...move(accrual.wallet, "INCENTIVE", accrual.amountWon),
  ]);
  entry.payerWalletId = payerWalletId;
  return entry;
}

interface Accrual {
  wallet?: Account;
  amountWon: Won;
}

/** Rounds down. A closed wallet accrues nothing. If the wallet is missing, the caller must open it first. */
function accrualOf(normalWon: Won, rateBps: number, wallets: Account[]): Accrual {
  const amountWon = basisPointsOf(normalWon, rateBps);
  if (amountWon === 0n) return { amountWon };
  const wallet = wallets.find(({ type }) => type === "INCENTIVE");
  if (!wallet) throw new DomainError("WAL_002", { walletType: "INCENTIVE" });
  return canReceive(wallet) ? { wallet, amountWon } : { amountWon: ZERO_WON };
}

function payingOfType(wallets: Account[], type: WalletType): Account | undefined {
  return wallets.find((wallet) => wallet.type === type && canPay(wallet));
}

function availableIn(wallet: Account | undefined): Won {
  return wallet ? availableOf(wallet) : ZERO_WON;
}
