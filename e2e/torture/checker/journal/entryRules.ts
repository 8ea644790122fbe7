import { accrualOf, incentivePart, returnedPart } from "../moneyRules";
import {
  accountOf,
  availableOf,
  giveBackToLimit,
  demand,
  seoulDay,
  takeFromLimit,
  walletOfUser,
  type Book,
  type BookAccount,
  type BookPayment,
} from "./book";
import { digitsOf, type Entry, type EntryKind, type Line, type LineType } from "./readJournal";

export type ExpectedLine = [account: string, type: LineType, amount: number];

/** Fields of the entry's request, if the history has the request. */
export interface Asked {
  incentiveAmount?: number | null;
}

/** Returns the lines that the entry must have. Changes the book, but no balance. */
export type Rule = (book: Book, entry: Entry, asked: Asked | undefined) => ExpectedLine[];

const CANCELLABLE_MS = 30 * 86_400_000;

export const RULES: Record<EntryKind, Rule> = {
  openAccount: () => [],
  closeAccount(book, { touched }) {
    for (const wallet of touched.map((id) => accountOf(book, id))) {
      demand(wallet.balance === 0 && wallet.held === 0, `${wallet.id} is closed with money`);
      wallet.isClosed = true;
    }
    return [];
  },
  reopenAccount(book, { touched }) {
    for (const id of touched) accountOf(book, id).isClosed = false;
    return [];
  },
  freezeAccount(book, { touched }) {
    for (const id of touched) accountOf(book, id).mayBeFrozen = true;
    return [];
  },
  charge(book, { id, lines, postedAtMs }) {
    const { account: walletId, amount } = onlyLine(lines, (line) => line.amount > 0);
    demand(amount >= 1_000, `a charge of ${amount}`);
    takeFromLimit(accountOf(book, "issuance"), postedAtMs, amount, book.rules.dailyChargeLimit);
    book.charges.set(digitsOf(id), { walletId, amount, cancelled: 0, postedAtMs });
    return [
      ["issuance", "CHARGE", -amount],
      [walletId, "CHARGE", amount],
    ];
  },
  cancelCharge(book, { lines, originalDigits, postedAtMs }) {
    const charge = book.charges.get(originalDigits!);
    demand(charge !== undefined, "the cancelled charge does not exist");
    const amount = -onlyLine(lines, (line) => line.amount < 0).amount;
    charge.cancelled += amount;
    demand(charge.cancelled <= charge.amount, `${charge.cancelled} of ${charge.amount} are cancelled`);
    demand(postedAtMs <= charge.postedAtMs + CANCELLABLE_MS, "the charge is older than 30 days");
    giveBackToLimit(accountOf(book, "issuance"), seoulDay(charge.postedAtMs), amount);
    return [
      [charge.walletId, "CHARGE_CANCEL", -amount],
      ["issuance", "CHARGE_CANCEL", amount],
    ];
  },
  refund(book, { lines }) {
    const wallet = accountOf(book, onlyLine(lines, (line) => line.amount < 0).account);
    demand(wallet.type !== "INCENTIVE", "an INCENTIVE wallet is refunded");
    const amount = availableOf(wallet);
    return [
      [wallet.id, "REFUND", -amount],
      ["issuance", "REFUND", amount],
    ];
  },
  transfer(book, { lines, postedAtMs }) {
    const from = accountOf(book, onlyLine(lines, (line) => line.amount < 0).account);
    const to = onlyLine(lines, (line) => line.amount > 0);
    demand(
      from.type === "NORMAL" && accountOf(book, to.account).type === "NORMAL",
      "not between NORMAL wallets",
    );
    takeFromLimit(from, postedAtMs, to.amount, book.rules.dailyTransferLimit);
    return [
      [from.id, "TRANSFER", -to.amount],
      [to.account, "TRANSFER", to.amount],
    ];
  },
  placeHold(book, { id, hold, postedAtMs }) {
    demand(hold !== null, "the entry has no hold");
    const wallet = accountOf(book, hold.walletId);
    demand(wallet.type === "NORMAL" && !wallet.isClosed, `${wallet.id} cannot hold money`);
    const day = takeFromLimit(wallet, postedAtMs, hold.amount, book.rules.dailyTransferLimit);
    wallet.held += hold.amount;
    book.holds.set(digitsOf(id), { walletId: wallet.id, amount: hold.amount, day, isOpen: true });
    return [];
  },
  postHold(book, entry) {
    const { walletId, amount } = endHold(book, entry);
    return [
      [walletId, "TRANSFER", -amount],
      ["external", "TRANSFER", amount],
    ];
  },
  voidHold(book, entry) {
    const { walletId, amount, day } = endHold(book, entry);
    giveBackToLimit(accountOf(book, walletId), day, amount);
    return [];
  },
  creditExternal(_, { lines }) {
    const { account, amount } = onlyLine(lines, (line) => line.amount > 0);
    return [
      ["external", "TRANSFER", -amount],
      [account, "TRANSFER", amount],
    ];
  },
  payment: payLines,
  cancelPayment(book, entry) {
    const payment = paymentOf(book, entry);
    demand(payment.returned === 0, "a payment is cancelled after a refund");
    payment.isCancelled = true;
    return returnLines(book, entry, payment, payment.amount);
  },
  refundPayment(book, entry) {
    const payment = paymentOf(book, entry);
    const given = entry.lines.find(({ account, amount }) => account === payment.receiverId && amount < 0);
    demand(given !== undefined, "the receiver gives nothing back");
    return returnLines(book, entry, payment, -given.amount);
  },
};

function onlyLine(lines: Line[], isWanted: (line: Line) => boolean): Line {
  const [line, ...others] = lines.filter(isWanted);
  demand(line !== undefined && others.length === 0, "the entry has other lines than its kind");
  return line;
}

function endHold(book: Book, { originalDigits }: Entry) {
  const hold = book.holds.get(originalDigits!);
  demand(hold !== undefined && hold.isOpen, "the hold is not open");
  hold.isOpen = false;
  accountOf(book, hold.walletId).held -= hold.amount;
  return hold;
}

function payLines(book: Book, { id, lines }: Entry, asked: Asked | undefined): ExpectedLine[] {
  const received = onlyLine(lines, ({ type, amount }) => type === "PAYMENT" && amount > 0);
  const receiver = accountOf(book, received.account);
  const paying = lines.find(({ account, amount }) => amount < 0 && account !== "incentive");
  demand(paying !== undefined, "nobody pays");
  const payerUser = accountOf(book, paying.account).userId!;
  demand(receiver.type === "NORMAL" && receiver.userId !== payerUser, "the receiver is not allowed");
  demand(received.amount >= 100, `a payment of ${received.amount}`);
  const [normalWallet, pot] = [
    walletOfUser(book, payerUser, "NORMAL"),
    walletOfUser(book, payerUser, "INCENTIVE"),
  ];

  const used = -(lines.find(({ type }) => type === "INCENTIVE_USE")?.amount ?? 0);
  const inPot = pot && !pot.isClosed ? availableOf(pot) : 0;
  if (asked && !pot?.mayBeFrozen) {
    const due = incentivePart(received.amount, inPot, asked.incentiveAmount);
    demand(used === due, `INCENTIVE paid ${used} instead of ${due}`);
  }
  const normal = received.amount - used;
  const granted = lines.find(({ type, amount }) => type === "INCENTIVE" && amount > 0)?.amount ?? 0;
  const canAccrue = pot !== undefined && !pot.isClosed;
  const accrued =
    pot?.mayBeFrozen && granted === 0 ? 0 : canAccrue ? accrualOf(normal, book.rules.incentiveRateBps) : 0;
  book.payments.set(digitsOf(id), {
    ...{ payerUser, receiverId: receiver.id, amount: received.amount, incentive: used, normal, accrued },
    ...{ returned: 0, isCancelled: false },
  });
  return withoutZeros([
    [pot?.id ?? "", "INCENTIVE_USE", -used],
    [normalWallet?.id ?? "", "PAYMENT", -normal],
    [receiver.id, "PAYMENT", received.amount],
    ["incentive", "INCENTIVE", -accrued],
    [pot?.id ?? "", "INCENTIVE", accrued],
  ]);
}

function paymentOf(book: Book, { originalDigits }: Entry): BookPayment {
  const payment = book.payments.get(originalDigits!);
  demand(payment !== undefined, "the payment does not exist");
  demand(!payment.isCancelled, "the payment is cancelled already");
  return payment;
}

function returnLines(book: Book, { lines }: Entry, payment: BookPayment, amount: number): ExpectedLine[] {
  const { payerUser, receiverId, returned } = payment;
  demand(returned + amount <= payment.amount, `${returned + amount} of ${payment.amount} are returned`);
  const part = returnedPart(payment, returned, returned + amount);
  payment.returned += amount;
  const [normalWallet, pot] = [
    walletOfUser(book, payerUser, "NORMAL"),
    walletOfUser(book, payerUser, "INCENTIVE"),
  ];
  const taken = -(
    lines.find(({ account, type }) => account === pot?.id && type === "INCENTIVE_CANCEL")?.amount ?? 0
  );
  const clawedBack = pot?.mayBeFrozen ? taken : Math.min(part.accrued, roomIn(pot, part.incentive));
  return withoutZeros([
    [receiverId, "PAYMENT_CANCEL", -amount],
    [pot?.id ?? "", "INCENTIVE_USE_CANCEL", part.incentive],
    [normalWallet?.id ?? "", "PAYMENT_CANCEL", part.normal - (part.accrued - clawedBack)],
    [pot?.id ?? "", "INCENTIVE_CANCEL", -clawedBack],
    ["incentive", "INCENTIVE_CANCEL", part.accrued],
  ]);
}

function roomIn(pot: BookAccount | undefined, restored: number): number {
  return pot && !pot.isClosed ? availableOf(pot) + restored : 0;
}

function withoutZeros(lines: ExpectedLine[]): ExpectedLine[] {
  return lines.filter(([, , amount]) => amount !== 0);
}
