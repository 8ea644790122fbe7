import { type Call, type OperationName } from "../../history";
import { type Json } from "../operations";
import {
  type Account,
  type Entry,
  type EntryKind,
  type Journal,
  type LineType,
} from "../journal/readJournal";
import { moneyCallOf } from "../moneyCalls";

export const USERS = ["ann", "bob", "shop"] as const;
export type User = (typeof USERS)[number];
type Type = "NORMAL" | "INCENTIVE";

export interface Request {
  name: OperationName;
  method: Call["method"];
  path: string;
  body: Json;
}

export function walletIdOf(user: string, type: Type): string {
  return `wal_${user}_${type}`;
}

class Refused extends Error {}

interface Payment {
  payer: string;
  receiver: string;
  amount: number;
  incentive: number;
  normal: number;
  accrued: number;
  returned: number;
  isCancelled: boolean;
}

type Move = [account: string, type: LineType, amount: number];

const NOON_MS = Date.UTC(2026, 0, 1, 3);

/** The money rules, one request at a time, with the answers of the gateway. */
export class SimulatedBook {
  readonly entries: Entry[] = [];
  readonly knownCharges: string[] = [];
  readonly knownPayments: string[] = [];
  private readonly balances = new Map<string, number>();
  private readonly held = new Map<string, number>();
  private readonly holds: { id: string; walletId: string; amount: number }[] = [];
  private readonly lastSequences = new Map<string, number>();
  private readonly charges = new Map<string, { walletId: string; amount: number; cancelled: number }>();
  private readonly payments = new Map<string, Payment>();
  private requests = 0;

  constructor(private readonly rateBps: number) {}

  answer({ name, body }: Request): { status: number; body: Json; entryId?: string } {
    this.requests += 1;
    if (this.requests % 7 === 0) this.endOldestHold();
    if (this.requests % 11 === 0) this.deposit();
    try {
      const data = this.execute(name, body);
      const call = moneyCallOf(name);
      const entry = call ? { entryId: data[call.id] as string } : {};
      return { status: 201, body: { success: true, data, error: null }, ...entry };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const refusal = { code: error.message, message: "", details: null };
      return { status: 400, body: { success: false, data: null, error: refusal } };
    }
  }

  /** The accounts and entries, as the checker reads them. */
  journal(organisation: string): Journal {
    const users = USERS.flatMap((userId) =>
      (["NORMAL", "INCENTIVE"] as const).map((type) => ({ id: walletIdOf(userId, type), type, userId })),
    );
    const own = (["issuance", "incentive", "external"] as const).map((type) => ({
      id: type,
      type,
      userId: null,
    }));
    const accounts: Account[] = [...users, ...own].map((account) => ({
      ...account,
      balance: this.balanceOf(account.id),
      held: this.heldIn(account.id),
      lastSequence: this.lastSequences.get(account.id) ?? 0,
    }));
    const limits = { dailyTransferLimit: 10 ** 9, dailyChargeLimit: 10 ** 9 };
    const rules = { incentiveRateBps: this.rateBps, ...limits };
    return { organisation, accounts, entries: this.entries, missingEntries: [], keys: [], rules };
  }

  /** A client can name an object once it has seen an answer about it. */
  learn(data: Json): void {
    if (data?.chargeId && !this.knownCharges.includes(data.chargeId)) this.knownCharges.push(data.chargeId);
    if (data?.paymentId && !this.knownPayments.includes(data.paymentId))
      this.knownPayments.push(data.paymentId);
  }

  private execute(name: OperationName, body: Json): Json {
    switch (name) {
      case "charge":
        return this.charge(body);
      case "charge.cancel":
        return this.cancelCharge(body);
      case "refund":
        return this.refund(body);
      case "transfer":
        return this.transfer(body);
      case "payment":
        return this.pay(body);
      case "payment.cancel":
        return this.cancelPayment(body);
      case "payment.refund":
        return this.refundPayment(body);
      default:
        return {
          walletId: body.walletId,
          balance: this.balanceOf(body.walletId),
          availableBalance: this.availableIn(body.walletId),
        };
    }
  }

  private charge({ walletId, amount }: Json): Json {
    const chargeId = `chg_${this.requests}`;
    this.post("charge", chargeId, [
      ["issuance", "CHARGE", -amount],
      [walletId, "CHARGE", amount],
    ]);
    this.charges.set(chargeId, { walletId, amount, cancelled: 0 });
    return { chargeId, walletId, amount, cancelledAmount: 0, balance: this.balanceOf(walletId) };
  }

  private cancelCharge({ chargeId, amount: asked }: Json): Json {
    const charge = this.charges.get(chargeId)!;
    const left = charge.amount - charge.cancelled;
    if (left === 0) throw new Refused("CHG_003");
    const amount = asked ?? left;
    if (amount > left) throw new Refused("CHG_005");
    if (this.availableIn(charge.walletId) < amount) throw new Refused("CHG_006");
    charge.cancelled += amount;
    const { walletId, amount: whole, cancelled: cancelledAmount } = charge;
    const cancelId = `ccl_${this.requests}`;
    const moves: Move[] = [
      [walletId, "CHARGE_CANCEL", -amount],
      ["issuance", "CHARGE_CANCEL", amount],
    ];
    this.post("cancelCharge", cancelId, moves, { originalDigits: chargeId.slice(4) });
    return {
      ...{ chargeId, cancelId, walletId, amount: whole, cancelledAmount },
      balance: this.balanceOf(walletId),
      cancellation: { cancelId, amount },
    };
  }

  private refund({ walletId }: Json): Json {
    const amount = this.availableIn(walletId);
    if (amount === 0) throw new Refused("CHG_007");
    const refundId = `rfd_${this.requests}`;
    this.post("refund", refundId, [
      [walletId, "REFUND", -amount],
      ["issuance", "REFUND", amount],
    ]);
    return { refundId, walletId, amount };
  }

  private transfer({ fromWalletId, toWalletAddress, amount }: Json): Json {
    if (this.availableIn(fromWalletId) < amount) throw new Refused("TRF_001");
    const toWalletId = toWalletAddress === "0xoutside" ? null : toWalletAddress.slice(2);
    const transferId = `trf_${this.requests}`;
    if (toWalletId === null) {
      const hold = { walletId: fromWalletId, toAddress: toWalletAddress, amount };
      this.held.set(fromWalletId, this.heldIn(fromWalletId) + amount);
      this.holds.push({ id: transferId, ...hold });
      this.post("placeHold", transferId, [], { hold, touched: [fromWalletId] });
    } else {
      this.post("transfer", transferId, [
        [fromWalletId, "TRANSFER", -amount],
        [toWalletId, "TRANSFER", amount],
      ]);
    }
    return { transferId, fromWalletId, toWalletId, amount };
  }

  private pay({ payerWalletId, receiverWalletId, amount, incentiveAmount }: Json): Json {
    const pot = payerWalletId.replace("NORMAL", "INCENTIVE");
    const most = Math.min(amount, this.availableIn(pot));
    if ((incentiveAmount ?? 0) > most) throw new Refused("PAY_006");
    const incentive = incentiveAmount ?? most;
    const normal = amount - incentive;
    if (normal > this.availableIn(payerWalletId)) throw new Refused("PAY_001");
    const accrued = Math.floor((normal * this.rateBps) / 10_000);
    this.post("payment", `pay_${this.requests}`, [
      [pot, "INCENTIVE_USE", -incentive],
      [payerWalletId, "PAYMENT", -normal],
      [receiverWalletId, "PAYMENT", amount],
      ["incentive", "INCENTIVE", -accrued],
      [pot, "INCENTIVE", accrued],
    ]);
    const parts = { incentive, normal, accrued };
    this.payments.set(`pay_${this.requests}`, {
      ...{ payer: payerWalletId, receiver: receiverWalletId, amount, ...parts },
      ...{ returned: 0, isCancelled: false },
    });
    return this.paymentData(`pay_${this.requests}`);
  }

  private cancelPayment({ paymentId }: Json): Json {
    const payment = this.payments.get(paymentId)!;
    if (payment.isCancelled) throw new Refused("PAY_003");
    if (payment.returned > 0) throw new Refused("PAY_008");
    if (this.availableIn(payment.receiver) < payment.amount) throw new Refused("PAY_001");
    payment.isCancelled = true;
    const cancelId = `pcl_${this.requests}`;
    const given = this.giveBack("cancelPayment", cancelId, paymentId, payment);
    return { ...this.paymentData(paymentId), cancelId, ...given };
  }

  private refundPayment({ paymentId, amount }: Json): Json {
    const payment = this.payments.get(paymentId)!;
    const { returned, normal, accrued } = payment;
    if (payment.isCancelled) throw new Refused("PAY_003");
    if (returned + amount > payment.amount) throw new Refused("PAY_009");
    if (this.availableIn(payment.receiver) < amount) throw new Refused("PAY_001");
    payment.returned += amount;
    const toNormal = Math.max(0, Math.min(amount, normal - returned));
    const kept = (rest: number) => (rest <= 0 ? 0 : Math.floor((accrued * rest) / normal));
    const due = kept(normal - returned) - kept(normal - returned - toNormal);
    const part = { incentive: amount - toNormal, normal: toNormal, accrued: due };
    const refundId = `prf_${this.requests}`;
    const refund = { refundId, amount, ...this.giveBack("refundPayment", refundId, paymentId, part) };
    return { ...this.paymentData(paymentId), refundId, refundedAmount: payment.returned, refund };
  }

  private giveBack(
    kind: EntryKind,
    id: string,
    paymentId: string,
    part: Pick<Payment, "incentive" | "normal" | "accrued">,
  ): Json {
    const { payer, receiver } = this.payments.get(paymentId)!;
    const pot = payer.replace("NORMAL", "INCENTIVE");
    const incentiveClawedBack = Math.min(part.accrued, this.availableIn(pot) + part.incentive);
    const keptFromNormal = part.accrued - incentiveClawedBack;
    const restored = { incentive: part.incentive, normal: part.normal - keptFromNormal };
    const moves: Move[] = [
      [receiver, "PAYMENT_CANCEL", -part.incentive - part.normal],
      [pot, "INCENTIVE_USE_CANCEL", restored.incentive],
      [payer, "PAYMENT_CANCEL", restored.normal],
      [pot, "INCENTIVE_CANCEL", -incentiveClawedBack],
      ["incentive", "INCENTIVE_CANCEL", part.accrued],
    ];
    this.post(kind, id, moves, { originalDigits: paymentId.slice(4) });
    return { restored, incentiveClawedBack, keptFromNormal };
  }

  private paymentData(paymentId: string): Json {
    const { payer, receiver, amount, incentive, normal, accrued } = this.payments.get(paymentId)!;
    return {
      ...{ paymentId, payerWalletId: payer, receiverWalletId: receiver, amount },
      ...{ breakdown: { government: 0, incentive, normal }, incentiveAccrued: accrued },
    };
  }

  private endOldestHold(): void {
    const hold = this.holds.shift();
    if (!hold) return;
    const { id, walletId, amount } = hold;
    this.held.set(walletId, this.heldIn(walletId) - amount);
    const isPosted = this.requests % 2 === 0;
    const moves: Move[] = [
      [walletId, "TRANSFER", -amount],
      ["external", "TRANSFER", amount],
    ];
    const more = { originalDigits: id.slice(4), touched: [walletId] };
    this.post(isPosted ? "postHold" : "voidHold", `trf_end${id.slice(4)}`, isPosted ? moves : [], more);
  }

  private deposit(): void {
    const walletId = walletIdOf(USERS[this.requests % USERS.length]!, "NORMAL");
    this.post("creditExternal", `trf_deposit${this.requests}`, [
      ["external", "TRANSFER", -777],
      [walletId, "TRANSFER", 777],
    ]);
  }

  private post(kind: EntryKind, id: string, moves: Move[], more: Partial<Entry> = {}): void {
    const lines = moves
      .filter(([, , amount]) => amount !== 0)
      .map(([account, type, amount]) => {
        const [sequence, balanceAfter] = [
          (this.lastSequences.get(account) ?? 0) + 1,
          this.balanceOf(account) + amount,
        ];
        this.lastSequences.set(account, sequence);
        this.balances.set(account, balanceAfter);
        return { account, type, amount, sequence, balanceAfter };
      });
    const sequence = this.entries.length + 1;
    const times = { sequence, postedAtMs: NOON_MS + sequence };
    this.entries.push({ id, kind, ...times, lines, originalDigits: null, touched: [], hold: null, ...more });
  }

  private balanceOf(walletId: string): number {
    return this.balances.get(walletId) ?? 0;
  }

  private heldIn(walletId: string): number {
    return this.held.get(walletId) ?? 0;
  }

  private availableIn(walletId: string): number {
    return this.balanceOf(walletId) - this.heldIn(walletId);
  }
}
