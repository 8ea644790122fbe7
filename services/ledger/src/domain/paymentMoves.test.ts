import fc from "fast-check";
import { won } from "@wonrail/kit/contract/money";
import { minus, openBook, post, walletOf, type Book, type Move } from "./book";
import { fundMove, move, returnPart } from "./paymentMoves";
import { paymentCancelled, paymentMade, type PaymentMade } from "./results";
import { ORGS, chargeOf, openState, request, requestId, walletId } from "./testing/requests";
import type { Entry } from "./types";

const [orgId] = ORGS as [string];
const shop = walletId(orgId, "lee", "NORMAL");
const anyRequest = (number: number) => request(orgId, requestId(number), chargeOf(shop, 1n));
const part = fc.bigInt(0n, 1_000n).map(won);
const payments = fc.record({
  paid: fc.record({ governmentWon: part, incentiveWon: part, normalWon: part }),
  rate: fc.nat(100),
  isReversed: fc.boolean(),
});

/** Posts a payment of all wallets. The rules of version 1 take no GOVERNMENT money. */
function pay(book: Book, { governmentWon, incentiveWon, normalWon, incentiveAccruedWon }: PaymentMade) {
  const wallet = (type: "NORMAL" | "INCENTIVE" | "GOVERNMENT") =>
    walletOf(book, orgId, walletId(orgId, "kim", type));
  for (const type of ["NORMAL", "INCENTIVE", "GOVERNMENT"] as const) wallet(type).balanceWon = won(1_000n);
  return post(book, anyRequest(1), [
    ...move(wallet("GOVERNMENT"), "PAYMENT", minus(governmentWon)),
    ...move(wallet("INCENTIVE"), "INCENTIVE_USE", minus(incentiveWon)),
    ...move(wallet("NORMAL"), "PAYMENT", minus(normalWon)),
    ...move(walletOf(book, orgId, shop), "PAYMENT", won(governmentWon + incentiveWon + normalWon)),
    ...fundMove(book, orgId, "INCENTIVE", minus(incentiveAccruedWon)),
    ...move(wallet("INCENTIVE"), "INCENTIVE", incentiveAccruedWon),
  ]);
}

function movesOf({ postings }: Entry): [string, Move["type"], bigint][] {
  return postings.map(({ accountType, type, amountWon }) => [accountType, type, amountWon]);
}

test("a payment returns to the wallets that paid, in any order of its postings", () => {
  fc.assert(
    fc.property(payments, ({ paid, rate, isReversed }) => {
      const { governmentWon, incentiveWon, normalWon } = paid;
      const paidWon = governmentWon + incentiveWon + normalWon;
      fc.pre(paidWon > 0n);
      const accruedWon = won((normalWon * BigInt(rate)) / 100n);
      const made = { ...paid, incentiveAccruedWon: accruedWon };
      const book = openBook(openState());
      const payment = pay(book, made);
      const postings = isReversed ? payment.postings.toReversed() : payment.postings;
      const returned = returnPart(book, anyRequest(2), { ...payment, postings }, made);
      const moves: [string, Move["type"], bigint][] = [
        ["NORMAL", "PAYMENT_CANCEL", -paidWon],
        ["GOVERNMENT", "PAYMENT_CANCEL", governmentWon],
        ["INCENTIVE", "INCENTIVE_USE_CANCEL", incentiveWon],
        ["NORMAL", "PAYMENT_CANCEL", normalWon],
        ["INCENTIVE", "INCENTIVE_CANCEL", minus(accruedWon)],
        ["ORG_INCENTIVE", "INCENTIVE_CANCEL", accruedWon],
      ];
      expect(movesOf(returned)).toEqual(moves.filter(([, , amount]) => amount !== 0n));
      const balances = returned.balances.map(({ balanceWon }) => balanceWon);
      expect(new Set(balances)).toEqual(new Set([0n, 1_000n]));
      expect(paymentMade(payment.postings)).toEqual(made);
      expect(paymentCancelled(returned.postings)).toEqual({
        ...{ restoredGovernmentWon: governmentWon, restoredIncentiveWon: incentiveWon },
        ...{ restoredNormalWon: normalWon, incentiveClawedBackWon: accruedWon, keptFromNormalWon: 0n },
      });
    }),
  );
});
