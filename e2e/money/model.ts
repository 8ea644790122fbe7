// The money rules in plain numbers, one command at a time. The real system is compared with this
// model.

/**
 * Wallets of two users: the payer's NORMAL, INCENTIVE and GOVERNMENT, and the receiver's NORMAL and
 * INCENTIVE.
 */
export const WALLETS = ["payer", "payerIncentive", "payerGovernment", "shop", "shopIncentive"] as const;
export type WalletName = (typeof WALLETS)[number];

export type Step =
  | { do: "charge"; wallet: WalletName; amount: number }
  | { do: "cancelCharge"; charge: number; amount: number | undefined }
  | { do: "refund"; wallet: WalletName }
  | { do: "transfer"; from: WalletName; to: WalletName; amount: number }
  | {
      do: "pay";
      payer: WalletName;
      receiver: WalletName;
      amount: number;
      incentive: number | null | undefined;
    }
  | { do: "cancelPayment"; payment: number }
  | { do: "refundPayment"; payment: number; amount: number };

/** An expected error code, or expected fields of the answer. */
export type Verdict = { code: string } | { says: Record<string, unknown> };

interface Charge {
  wallet: WalletName;
  amount: number;
  cancelled: number;
}
interface Payment {
  receiver: WalletName;
  owner: Owner;
  fromIncentive: number;
  fromNormal: number;
  accrued: number;
  refunded: number;
  cancelled: boolean;
}
type Part = Pick<Payment, "fromIncentive" | "fromNormal" | "accrued">;
type Owner = "payer" | "shop";

export const DAILY_LIMIT = 12_000;
export const INCENTIVE_BPS = 500;

export class Model {
  readonly balances = Object.fromEntries(WALLETS.map((name) => [name, 0])) as Record<WalletName, number>;
  readonly charges: Charge[] = [];
  readonly payments: Payment[] = [];
  private readonly transferred: Record<string, number> = {};

  apply(step: Step): Verdict {
    switch (step.do) {
      case "charge":
        return this.charge(step.wallet, step.amount);
      case "cancelCharge":
        return this.cancelCharge(this.charges[step.charge], step.amount);
      case "refund":
        return this.refund(step.wallet);
      case "transfer":
        return this.transfer(step.from, step.to, step.amount);
      case "pay":
        return this.pay(step);
      case "cancelPayment":
        return this.cancelPayment(this.payments[step.payment]);
      case "refundPayment":
        return this.refundPayment(this.payments[step.payment], step.amount);
    }
  }

  private charge(wallet: WalletName, amount: number): Verdict {
    if (amount < 1_000) return { code: "CHG_001" };
    this.balances[wallet] += amount;
    this.charges.push({ wallet, amount, cancelled: 0 });
    return { says: { amount, cancelledAmount: 0, status: "CHARGED", balance: this.balances[wallet] } };
  }

  private cancelCharge(charge: Charge | undefined, asked: number | undefined): Verdict {
    if (!charge) return { code: "CHG_002" };
    const left = charge.amount - charge.cancelled;
    if (left === 0) return { code: "CHG_003" };
    const amount = asked ?? left;
    if (amount > left) return { code: "CHG_005" };
    if (amount > this.balances[charge.wallet]) return { code: "CHG_006" };
    charge.cancelled += amount;
    this.balances[charge.wallet] -= amount;
    const status = charge.cancelled === charge.amount ? "CANCELLED" : "PARTIALLY_CANCELLED";
    return { says: { status, cancelledAmount: charge.cancelled } };
  }

  private refund(wallet: WalletName): Verdict {
    const amount = this.balances[wallet];
    if (isIncentive(wallet) || amount === 0) return { code: "CHG_007" };
    this.balances[wallet] = 0;
    return { says: { amount } };
  }

  private transfer(from: WalletName, to: WalletName, amount: number): Verdict {
    if (!isNormal(from)) return { code: "TRF_004" };
    if (from === to) return { code: "TRF_002" };
    if (!isNormal(to)) return { code: "TRF_004" };
    if (amount > this.balances[from]) return { code: "TRF_001" };
    const today = (this.transferred[from] ?? 0) + amount;
    if (today > DAILY_LIMIT) return { code: "TRF_003" };
    this.transferred[from] = today;
    this.balances[from] -= amount;
    this.balances[to] += amount;
    return { says: { status: "COMPLETED", amount } };
  }

  private pay({ payer, receiver, amount, incentive: asked }: Extract<Step, { do: "pay" }>): Verdict {
    if (amount < 100) return { code: "PAY_002" };
    const owner = ownerOf(payer);
    if (!isNormal(receiver) || ownerOf(receiver) === owner) return { code: "PAY_005" };
    const pot = incentiveOf(owner);
    const most = Math.min(this.balances[pot], amount);
    if ((asked ?? 0) > most) return { code: "PAY_006" };
    const incentive = asked ?? most;
    const normal = amount - incentive;
    if (normal > this.balances[owner]) return { code: "PAY_001" };
    const accrued = Math.floor((normal * INCENTIVE_BPS) / 10_000);
    this.balances[owner] -= normal;
    this.balances[pot] += accrued - incentive;
    this.balances[receiver] += amount;
    this.payments.push({
      receiver,
      owner,
      fromIncentive: incentive,
      fromNormal: normal,
      accrued,
      refunded: 0,
      cancelled: false,
    });
    return {
      says: { status: "PAID", breakdown: { government: 0, incentive, normal }, incentiveAccrued: accrued },
    };
  }

  private cancelPayment(payment: Payment | undefined): Verdict {
    if (!payment) return { code: "PAY_004" };
    if (payment.cancelled) return { code: "PAY_003" };
    if (payment.refunded > 0) return { code: "PAY_008" };
    const { receiver, fromIncentive, fromNormal, accrued } = payment;
    if (this.balances[receiver] < fromIncentive + fromNormal) return { code: "PAY_001" };
    payment.cancelled = true;
    const clawedBack = this.giveBack(payment, { fromIncentive, fromNormal, accrued });
    return { says: { status: "CANCELLED", incentiveClawedBack: clawedBack } };
  }

  private refundPayment(payment: Payment | undefined, amount: number): Verdict {
    if (!payment) return { code: "PAY_004" };
    if (payment.cancelled) return { code: "PAY_003" };
    const { receiver, refunded, fromNormal, fromIncentive, accrued } = payment;
    const after = refunded + amount;
    if (after > fromNormal + fromIncentive) return { code: "PAY_009" };
    if (this.balances[receiver] < amount) return { code: "PAY_001" };
    payment.refunded = after;
    const normal = Math.max(0, Math.min(amount, fromNormal - refunded));
    const kept = (rest: number) => (rest <= 0 ? 0 : Math.floor((accrued * rest) / fromNormal));
    const clawedBack = this.giveBack(payment, {
      ...{ fromIncentive: amount - normal, fromNormal: normal },
      accrued: kept(fromNormal - refunded) - kept(fromNormal - after),
    });
    const status = after === fromNormal + fromIncentive ? "REFUNDED" : "PARTIALLY_REFUNDED";
    const refund = expect.objectContaining({ amount, incentiveClawedBack: clawedBack });
    return { says: { status, refundedAmount: after, refund } };
  }

  /** Returns the part of the accrual that the INCENTIVE wallet still had. */
  private giveBack({ receiver, owner }: Payment, part: Part): number {
    const pot = incentiveOf(owner);
    const clawedBack = Math.min(part.accrued, this.balances[pot] + part.fromIncentive);
    this.balances[receiver] -= part.fromIncentive + part.fromNormal;
    this.balances[pot] += part.fromIncentive - clawedBack;
    this.balances[owner] += part.fromNormal - (part.accrued - clawedBack);
    return clawedBack;
  }
}

function isNormal(wallet: WalletName): boolean {
  return wallet === "payer" || wallet === "shop";
}

function isIncentive(wallet: WalletName): boolean {
  return wallet === incentiveOf(ownerOf(wallet));
}

function ownerOf(wallet: WalletName): Owner {
  return wallet.startsWith("payer") ? "payer" : "shop";
}

function incentiveOf(owner: Owner): WalletName {
  return `${owner}Incentive`;
}
