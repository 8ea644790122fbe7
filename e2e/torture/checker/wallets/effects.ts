import { accrualOf } from "../moneyRules";
import { isSuccess, type Json, type Operation } from "../operations";
import { type Undo } from "./findOrder";
import {
  addReturned,
  all,
  availableOf,
  hold,
  move,
  NOTHING,
  partForPayer,
  setClosed,
  splitPayment,
  type Purses,
} from "./purses";
import { type Index, type Wallet } from "./walletIndex";

/** The change or observation that an operation makes on one user's wallets. */
export interface Effect {
  /** One of the user's wallets. */
  wallet: Wallet;
  apply(purses: Purses): Undo | undefined;
}

/**
 * The effects of an operation on each user that it touches. An operation without an outcome has the
 * effect that its rules give at that moment. A refusal observes what its code says.
 */
export function effectsOf(operation: Operation, index: Index): Effect[] {
  const { outcome, body } = operation;
  const answered = outcome && isSuccess(outcome) ? outcome.data : undefined;
  const code = outcome?.error?.code;
  switch (operation.name) {
    case "charge":
      return on(index.walletOf(body.walletId), (wallet) => charge(wallet, body, answered, code));
    case "charge.cancel": {
      const charged = index.charges.get(body.chargeId);
      return on(charged?.wallet, (wallet) => cancelCharge(wallet, charged!.amount, body, answered, code));
    }
    case "refund":
      return on(index.walletOf(body.walletId), (wallet) => refund(wallet, answered, code));
    case "transfer":
      return transfer(operation, index, answered, code);
    case "payment":
      return pay(operation, index, answered, code);
    case "payment.cancel":
    case "payment.refund":
      return returnPayment(operation, index, answered, code);
    case "wallet.get":
      return answered ? on(index.walletOf(answered.walletId), (wallet) => read(wallet, answered)) : [];
    case "wallet.deactivate": {
      const wallet = index.walletOf(/wallets\/(\w+)\/deactivate/.exec(operation.path)?.[1]);
      return on(wallet, ({ type }) => (code ? undefined : (purses) => setClosed(purses[type], true)));
    }
    default:
      return [];
  }
}

type Apply = Effect["apply"];

function on(wallet: Wallet | undefined, make: (wallet: Wallet) => Apply | undefined): Effect[] {
  const apply = wallet && make(wallet);
  return apply ? [{ wallet, apply }] : [];
}

function when(isTrue: boolean): Undo | undefined {
  return isTrue ? NOTHING : undefined;
}

function charge({ type }: Wallet, body: Json, answered: Json, code?: string): Apply | undefined {
  if (code !== undefined) return undefined;
  return (purses) =>
    all(
      () => move(purses, { [type]: body.amount }),
      () => when(!answered || answered.balance === purses[type].balance),
    );
}

function cancelCharge({ type }: Wallet, whole: number, body: Json, answered: Json, code?: string): Apply {
  return (purses) => {
    const done = purses.returned.get(body.chargeId) ?? 0;
    const amount = body.amount ?? whole - done;
    const isWithin = amount > 0 && amount <= whole - done;
    if (code === "CHG_003") return when(done === whole);
    if (code === "CHG_005") return when(done < whole && !isWithin);
    if (code === "CHG_006") return when(isWithin && availableOf(purses[type]) < amount);
    if (code !== undefined) return NOTHING;
    if (!isWithin) return undefined;
    return all(
      () => move(purses, { [type]: -amount }),
      () => addReturned(purses, body.chargeId, amount),
      () => when(!answered || answered.cancelledAmount === done + amount),
      () => when(!answered || answered.balance === purses[type].balance),
    );
  };
}

function refund({ type }: Wallet, answered: Json, code?: string): Apply | undefined {
  if (code === "CHG_007") return (purses) => when(type === "INCENTIVE" || availableOf(purses[type]) === 0);
  if (code !== undefined) return undefined;
  return (purses) => {
    const amount = availableOf(purses[type]);
    if (amount === 0 || (answered && answered.amount !== amount)) return undefined;
    return move(purses, { [type]: -amount });
  };
}

function transfer({ body }: Operation, index: Index, answered: Json, code?: string): Effect[] {
  const { amount } = body;
  const from = index.walletOf(body.fromWalletId);
  if (code === "TRF_001")
    return on(
      from,
      ({ type }) =>
        (purses) =>
          when(availableOf(purses[type]) < amount),
    );
  if (code !== undefined || !from) return [];
  const to = answered
    ? index.walletOf(answered.toWalletId)
    : index.walletAt(from.organisation, body.toWalletAddress);
  if (!to)
    return on(
      from,
      ({ type }) =>
        (purses) =>
          hold(purses[type], amount),
    );
  if (to.user === from.user) return [];
  return [
    ...on(
      from,
      ({ type }) =>
        (purses) =>
          move(purses, { [type]: -amount }),
    ),
    ...on(
      to,
      ({ type }) =>
        (purses) =>
          move(purses, { [type]: amount }),
    ),
  ];
}

function pay({ body }: Operation, index: Index, answered: Json, code?: string): Effect[] {
  const { amount, incentiveAmount } = body;
  const payer = index.walletOf(body.payerWalletId);
  const isFrozen = payer && index.mayBeFrozen(payer.user);
  if (code === "PAY_001" || code === "PAY_006") {
    if (isFrozen) return [];
    return on(payer, () => (purses) => when(splitPayment(purses, amount, incentiveAmount) === code));
  }
  if (code !== undefined || !payer) return [];
  const spend: Apply = (purses) => {
    const split = isFrozen && answered ? answered.breakdown : splitPayment(purses, amount, incentiveAmount);
    if (typeof split === "string") return undefined;
    const { incentive, normal } = split;
    if (answered && (answered.breakdown.incentive !== incentive || answered.breakdown.normal !== normal))
      return undefined;
    const rateBps = purses.INCENTIVE.isClosed ? 0 : index.rateBps(payer.organisation);
    const accrued = answered ? answered.incentiveAccrued : accrualOf(normal, rateBps);
    return move(purses, { INCENTIVE: accrued - incentive, NORMAL: -normal });
  };
  const receive: Apply = (purses) => move(purses, { NORMAL: amount });
  return [...on(payer, () => spend), ...on(index.walletOf(body.receiverWalletId), () => receive)];
}

function returnPayment(operation: Operation, index: Index, answered: Json, code?: string): Effect[] {
  const { name, body } = operation;
  const payment = index.payments.get(body.paymentId);
  if (!payment) return [];
  const { amount: whole, parts } = payment;
  const isCancel = name === "payment.cancel";
  const sumAfter = (purses: Purses): [from: number, to: number] => {
    const from = purses.returned.get(body.paymentId) ?? 0;
    return [from, isCancel ? whole : from + body.amount];
  };
  const isPossible = ([from, to]: [number, number]) => to <= whole && (!isCancel || from === 0);
  const markReturned = (purses: Purses, [from, to]: [number, number]) =>
    all(
      () => addReturned(purses, body.paymentId, to - from),
      () => (isCancel ? addReturned(purses, cancelMark(body.paymentId), 1) : NOTHING),
    );

  const observe = (purses: Purses): Undo | undefined => {
    const [from, to] = sumAfter(purses);
    const isCancelled = (purses.returned.get(cancelMark(body.paymentId)) ?? 0) > 0;
    if (code === "PAY_003") return when(isCancelled);
    if (code === "PAY_008") return when(!isCancelled && from > 0);
    if (code === "PAY_009") return when(!isCancelled && to > whole);
    if (code === "PAY_001") return when(isPossible([from, to]) && availableOf(purses.NORMAL) < to - from);
    return NOTHING;
  };
  if (code !== undefined) return on(payment.receiver, () => observe);

  const giveBack: Apply = (purses) => {
    const sums = sumAfter(purses);
    if (!isPossible(sums)) return undefined;
    return all(
      () => move(purses, { NORMAL: sums[0] - sums[1] }),
      () => markReturned(purses, sums),
      () => when(isCancel || !answered || answered.refundedAmount === sums[1]),
    );
  };
  const getBack: Apply = (purses) => {
    const sums = sumAfter(purses);
    if (!isPossible(sums)) return undefined;
    const part = partForPayer(purses, parts, ...sums);
    const said = answered && (isCancel ? answered : answered.refund);
    if (said && !index.mayBeFrozen(payment.payer.user) && !isSamePart(said, part)) return undefined;
    const { incentive, normal, clawedBack } = said ? partOf(said) : part;
    return all(
      () => move(purses, { INCENTIVE: incentive - clawedBack, NORMAL: normal }),
      () => markReturned(purses, sums),
    );
  };
  return [...on(payment.receiver, () => giveBack), ...on(payment.payer, () => getBack)];
}

function cancelMark(paymentId: string): string {
  return `cancelled ${paymentId}`;
}

type ReturnedPart = ReturnType<typeof partForPayer>;

function partOf({ restored, incentiveClawedBack, keptFromNormal }: Json): ReturnedPart {
  return { ...restored, clawedBack: incentiveClawedBack, kept: keptFromNormal };
}

function isSamePart(said: Json, part: ReturnedPart): boolean {
  const { incentive, normal, clawedBack, kept } = partOf(said);
  return (
    incentive === part.incentive &&
    normal === part.normal &&
    clawedBack === part.clawedBack &&
    kept === part.kept
  );
}

function read({ type }: Wallet, { balance, availableBalance }: Json): Apply {
  return (purses) =>
    when(purses[type].balance === balance && balance - purses[type].held === availableBalance);
}
