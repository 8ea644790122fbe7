import { freezeOf, Refused, type Move, type RuleOf } from "../../domain/testing/modelBook";

export const refundPayment: RuleOf<"refundPayment"> = (book, { org, intent }) => {
  const payment = book.doneOf(org, intent.paymentRequestId);
  if (!payment?.undo) throw new Refused("PAY_004");
  if (payment.cancelled > 0n) throw new Refused("PAY_003");
  const { receiver, parts, accrued, incentive } = payment.undo;
  const [used, paid] = ["INCENTIVE_USE", "PAYMENT"].map((type) => parts.find((part) => part[1] === type));
  const fromNormal = paid ? -paid[2] : 0n;
  const fromIncentive = used ? -used[2] : 0n;
  const from = payment.refunded;
  const to = from + intent.amountWon;
  if (to > fromNormal + fromIncentive) throw new Refused("PAY_009");
  const sender = book.paying(org, receiver);
  if (sender.balance - sender.held < intent.amountWon) throw new Refused("PAY_001");
  // Won by won: the first ones are NORMAL money, and each takes its share of the accrual along.
  const toNormal = min(to, fromNormal) - min(from, fromNormal);
  const toIncentive = intent.amountWon - toNormal;
  const dueAt = (returned: bigint) =>
    fromNormal === 0n ? 0n : (accrued * min(returned, fromNormal) + fromNormal - 1n) / fromNormal;
  const due = dueAt(to) - dueAt(from);
  const pot = incentive === undefined ? undefined : book.wallets.get(incentive)!;
  const inPot = pot && !pot.closed && freezeOf(pot) === "NONE" ? pot.balance + toIncentive : 0n;
  const back = min(due, inPot);
  const moves = (
    [
      [receiver, "PAYMENT_CANCEL", from - to],
      [incentive, "INCENTIVE_USE_CANCEL", toIncentive],
      [paid?.[0], "PAYMENT_CANCEL", toNormal - (due - back)],
      [incentive, "INCENTIVE_CANCEL", -back],
      ["incentive", "INCENTIVE_CANCEL", due],
    ] as Move[]
  ).filter(([, , amount]) => amount !== 0n);
  for (const [account, , amount] of moves)
    if (amount > 0n && book.wallets.has(account)) book.receiving(org, account);
  const lines = book.moves(org, moves);
  payment.refunded = to;
  return lines;
};

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
