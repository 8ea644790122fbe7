import { freezeOf, Refused, type Move, type RuleOf } from "../../domain/testing/modelBook";

export const cancelPayment: RuleOf<"cancelPayment"> = (book, { org, intent }) => {
  const payment = book.doneOf(org, intent.paymentRequestId);
  if (!payment?.undo) throw new Refused("PAY_004");
  if (payment.cancelled > 0n) throw new Refused("PAY_003");
  if (payment.refunded > 0n) throw new Refused("PAY_008");
  const { receiver, parts, accrued, incentive } = payment.undo;
  const whole = parts.reduce((sum, [, , amount]) => sum - amount, 0n);
  const from = book.paying(org, receiver);
  if (from.balance - from.held < whole) throw new Refused("PAY_001");
  const used = parts.find(([, type]) => type === "INCENTIVE_USE");
  const paid = parts.find(([, type]) => type === "PAYMENT");
  const pot = incentive === undefined ? undefined : book.wallets.get(incentive)!;
  const inPot = pot && !pot.closed && freezeOf(pot) === "NONE" ? pot.balance + (used ? -used[2] : 0n) : 0n;
  const back = accrued < inPot ? accrued : inPot;
  const toNormal = (paid ? -paid[2] : 0n) - (accrued - back);
  const moves: Move[] = [[receiver, "PAYMENT_CANCEL", -whole]];
  if (used) moves.push([used[0], "INCENTIVE_USE_CANCEL", -used[2]]);
  if (toNormal > 0n) moves.push([paid![0], "PAYMENT_CANCEL", toNormal]);
  if (back > 0n) moves.push([incentive!, "INCENTIVE_CANCEL", -back]);
  if (accrued > 0n) moves.push(["incentive", "INCENTIVE_CANCEL", accrued]);
  for (const [account, , amount] of moves)
    if (amount > 0n && book.wallets.has(account)) book.receiving(org, account);
  const lines = book.moves(org, moves);
  payment.cancelled = 1n;
  return lines;
};
