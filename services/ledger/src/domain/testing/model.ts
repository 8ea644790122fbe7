import type { Intent, LedgerRequest, TransactionType, WalletType } from "../types";

/**
 * The money rules once more, written on purpose in another way: one request at a time, plain numbers of won as bigint, no batches, no
 * sharing of code with the engine. What the engine answers is compared with what this answers.
 */
export interface ModelAnswer {
  code?: string;
  /** account, type, amount, balance after */
  lines?: [string, TransactionType, bigint, bigint][];
}

interface Wallet {
  org: string;
  user: string;
  type: WalletType;
  balance: bigint;
  held: bigint;
  closed: boolean;
  freeze: "NONE" | "OUTGOING" | "ALL";
  used: Map<string, bigint>;
}

interface Done {
  kind: Intent["kind"];
  content: string;
  answer: ModelAnswer;
  atMs: number;
  wallet?: string;
  amount?: bigint;
  cancelled: bigint;
  undo?: {
    receiver: string;
    parts: [string, TransactionType, bigint][];
    accrued: bigint;
    incentive?: string;
  };
  hold?: { wallet: string; amount: bigint; day: string; state: "open" | "posted" | "voided" };
}

class Refused extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

const DAY = new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Seoul" });
const THIRTY_DAYS_MS = 2_592_000_000;
const MOST = 9_007_199_254_740_991n;

export class Model {
  readonly wallets = new Map<string, Wallet>();
  readonly orgs = new Map<string, Record<"issuance" | "incentive" | "external", bigint>>();
  private readonly done = new Map<string, Done>();
  private readonly logs = new Map<string, string>();
  private readonly keys = new Map<string, { id: string; body: string }>();
  /** Charged per organisation and day. */
  private readonly charged = new Map<string, bigint>();

  apply(request: LedgerRequest, nowMs: number): ModelAnswer {
    const { orgId: org, intent } = request;
    const id = `${org}/${request.requestId.slice(4)}`;
    const content = contentWithoutPolicy(request);
    const key = request.key && `${org}/${request.key.scope}/${request.key.key}`;
    const used = key && this.keys.get(key);
    if (used)
      return used.body === request.key!.bodyHash ? this.done.get(used.id)!.answer : { code: "REQ_003" };
    const before = this.done.get(id);
    if (before) return before.content === content ? before.answer : { code: "REQ_003" };
    if (intent.kind === "creditExternal") {
      const first = this.done.get(this.logs.get(`${org}/${intent.chainLogId}`) ?? "");
      if (first) return first.content === content ? first.answer : { code: "REQ_003" };
    }
    const done: Done = { kind: intent.kind, content, answer: {}, atMs: nowMs, cancelled: 0n };
    try {
      done.answer = { lines: this.run(request, done, nowMs) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      done.answer = { code: error.code };
      if (intent.kind === "creditExternal") return done.answer;
    }
    this.done.set(id, done);
    if (key) this.keys.set(key, { id, body: request.key!.bodyHash });
    return done.answer;
  }

  /** What everything adds up to; it has to be zero. */
  total(): bigint {
    let sum = 0n;
    for (const wallet of this.wallets.values()) sum += wallet.balance;
    for (const org of this.orgs.values()) sum += org.issuance + org.incentive + org.external;
    return sum;
  }

  private run(request: LedgerRequest, done: Done, nowMs: number): NonNullable<ModelAnswer["lines"]> {
    const { orgId: org, intent } = request;
    const day = DAY.format(nowMs);
    switch (intent.kind) {
      case "openAccount": {
        const same = [...this.wallets].find(
          ([, w]) => w.org === org && w.user === intent.userId && w.type === intent.type,
        );
        if (same?.[0] === intent.walletId) return [];
        if (same || this.wallets.has(intent.walletId)) throw new Refused("WAL_001");
        const { userId: user, type } = intent;
        const fresh = {
          org,
          user,
          type,
          balance: 0n,
          held: 0n,
          closed: false,
          freeze: "NONE" as const,
          used: new Map(),
        };
        this.wallets.set(intent.walletId, fresh);
        return [];
      }
      case "closeAccount": {
        const wallet = this.open(org, intent.walletId);
        if (wallet.balance > 0n || wallet.held > 0n) throw new Refused("WAL_003");
        wallet.closed = true;
        return [];
      }
      case "reopenAccount": {
        const wallet = this.wallets.get(intent.walletId);
        if (wallet?.org !== org) throw new Refused("WAL_002");
        wallet.closed = false;
        return [];
      }
      case "freezeAccount": {
        const wallet = this.wallets.get(intent.walletId);
        if (wallet?.org !== org) throw new Refused("WAL_002");
        wallet.freeze = intent.freeze;
        return [];
      }
      case "charge": {
        const { walletId, amountWon, dailyLimitWon } = intent;
        this.receiving(org, walletId);
        const charged = this.charged.get(`${org} ${day}`) ?? 0n;
        if (charged + amountWon > dailyLimitWon) throw new Refused("CHG_008");
        const lines = this.move(org, "CHARGE", ["issuance", 0n - amountWon], [walletId, amountWon]);
        this.charged.set(`${org} ${day}`, charged + amountWon);
        Object.assign(done, { wallet: walletId, amount: amountWon });
        return lines;
      }
      case "cancelCharge": {
        const charge = this.done.get(`${org}/${intent.chargeRequestId.slice(4)}`);
        if (charge?.kind !== "charge" || charge.answer.code !== undefined) throw new Refused("CHG_002");
        const left = charge.amount! - charge.cancelled;
        if (left === 0n) throw new Refused("CHG_003");
        if (nowMs - charge.atMs > THIRTY_DAYS_MS) throw new Refused("CHG_004");
        const amount = intent.amountWon ?? left;
        if (amount > left) throw new Refused("CHG_005");
        const wallet = this.paying(org, charge.wallet!);
        if (wallet.balance - wallet.held < amount) throw new Refused("CHG_006");
        charge.cancelled += amount;
        const charged = `${org} ${DAY.format(charge.atMs)}`;
        this.charged.set(charged, this.charged.get(charged)! - amount);
        return this.move(org, "CHARGE_CANCEL", [charge.wallet!, -amount], ["issuance", amount]);
      }
      case "refund": {
        const wallet = this.paying(org, intent.walletId);
        const free = wallet.balance - wallet.held;
        if (wallet.type === "INCENTIVE" || free === 0n) throw new Refused("CHG_007");
        return this.move(org, "REFUND", [intent.walletId, -free], ["issuance", free]);
      }
      case "transfer": {
        const { fromWalletId, toWalletId, amountWon, dailyLimitWon } = intent;
        const from = this.paying(org, fromWalletId);
        if (from.type !== "NORMAL") throw new Refused("TRF_004");
        const to = this.receiving(org, toWalletId);
        if (fromWalletId === toWalletId) throw new Refused("TRF_002");
        if (to.type !== "NORMAL") throw new Refused("TRF_004");
        if (from.balance - from.held < amountWon) throw new Refused("TRF_001");
        const used = from.used.get(day) ?? 0n;
        if (used + amountWon > dailyLimitWon) throw new Refused("TRF_003");
        const lines = this.move(org, "TRANSFER", [fromWalletId, 0n - amountWon], [toWalletId, amountWon]);
        from.used.set(day, used + amountWon);
        return lines;
      }
      case "payment":
        return this.pay(org, intent, done);
      case "cancelPayment":
        return this.cancelPayment(org, intent.paymentRequestId);
      case "placeHold": {
        const wallet = this.paying(org, intent.walletId);
        if (wallet.type !== "NORMAL") throw new Refused("TRF_004");
        if (wallet.balance - wallet.held < intent.amountWon) throw new Refused("TRF_001");
        const used = wallet.used.get(day) ?? 0n;
        if (used + intent.amountWon > intent.dailyLimitWon) throw new Refused("TRF_003");
        wallet.used.set(day, used + intent.amountWon);
        wallet.held += intent.amountWon;
        done.hold = { wallet: intent.walletId, amount: intent.amountWon, day, state: "open" };
        return [];
      }
      case "postHold":
      case "voidHold": {
        const hold = this.done.get(`${org}/${intent.holdRequestId.slice(4)}`)?.hold;
        if (!hold) throw new Refused("TRF_005");
        if (hold.state !== "open") throw new Refused("TX_003");
        const wallet = this.wallets.get(hold.wallet)!;
        wallet.held -= hold.amount;
        hold.state = intent.kind === "postHold" ? "posted" : "voided";
        if (intent.kind === "postHold") {
          return this.move(org, "TRANSFER", [hold.wallet, -hold.amount], ["external", hold.amount]);
        }
        wallet.used.set(hold.day, wallet.used.get(hold.day)! - hold.amount);
        return [];
      }
      case "creditExternal": {
        const { walletId, amountWon, chainLogId } = intent;
        if (this.wallets.get(walletId)?.org !== org) throw new Refused("WAL_002");
        const lines = this.move(org, "TRANSFER", ["external", 0n - amountWon], [walletId, amountWon]);
        this.logs.set(`${org}/${chainLogId}`, `${org}/${request.requestId.slice(4)}`);
        return lines;
      }
    }
  }

  private pay(org: string, intent: Extract<Intent, { kind: "payment" }>, done: Done) {
    const payer = this.paying(org, intent.payerWalletId);
    const receiver = this.receiving(org, intent.receiverWalletId);
    if (receiver.type !== "NORMAL" || receiver.user === payer.user) throw new Refused("PAY_005");
    const find = (type: WalletType) =>
      [...this.wallets].find(([, w]) => w.org === org && w.user === payer.user && w.type === type);
    const free = (found?: [string, Wallet]) =>
      found && !found[1].closed && found[1].freeze === "NONE" ? found[1].balance - found[1].held : 0n;
    const [incentive, normal] = [find("INCENTIVE"), find("NORMAL")];
    let fromIncentive = free(incentive) < intent.amountWon ? free(incentive) : intent.amountWon;
    if (intent.incentiveAmountWon !== null) {
      if (intent.incentiveAmountWon > fromIncentive) throw new Refused("PAY_006");
      fromIncentive = intent.incentiveAmountWon;
    }
    const fromNormal = intent.amountWon - fromIncentive;
    if (free(normal) < fromNormal) throw new Refused("PAY_001");
    let accrued = (fromNormal * BigInt(intent.accrualRateBps)) / 10000n;
    if (accrued > 0n && !incentive) throw new Refused("WAL_002");
    if (incentive?.[1].closed || incentive?.[1].freeze === "ALL") accrued = 0n;
    const parts: [string, TransactionType, bigint][] = [];
    if (fromIncentive > 0n) parts.push([incentive![0], "INCENTIVE_USE", -fromIncentive]);
    if (fromNormal > 0n) parts.push([normal![0], "PAYMENT", -fromNormal]);
    const lines = this.moves(org, [
      ...parts,
      [intent.receiverWalletId, "PAYMENT", intent.amountWon],
      ...(accrued > 0n
        ? ([
            ["incentive", "INCENTIVE", -accrued],
            [incentive![0], "INCENTIVE", accrued],
          ] as [string, TransactionType, bigint][])
        : []),
    ]);
    done.undo = {
      receiver: intent.receiverWalletId,
      parts,
      accrued,
      ...(incentive && { incentive: incentive[0] }),
    };
    return lines;
  }

  private cancelPayment(org: string, paymentRequestId: string) {
    const payment = this.done.get(`${org}/${paymentRequestId.slice(4)}`);
    if (!payment?.undo) throw new Refused("PAY_004");
    if (payment.cancelled > 0n) throw new Refused("PAY_003");
    const { receiver, parts, accrued, incentive } = payment.undo;
    const whole = parts.reduce((sum, [, , amount]) => sum - amount, 0n);
    const from = this.paying(org, receiver);
    if (from.balance - from.held < whole) throw new Refused("PAY_001");
    const used = parts.find(([, type]) => type === "INCENTIVE_USE");
    const paid = parts.find(([, type]) => type === "PAYMENT");
    const pot = incentive === undefined ? undefined : this.wallets.get(incentive)!;
    const inPot = pot && !pot.closed && pot.freeze === "NONE" ? pot.balance + (used ? -used[2] : 0n) : 0n;
    const back = accrued < inPot ? accrued : inPot;
    const toNormal = (paid ? -paid[2] : 0n) - (accrued - back);
    const moves: [string, TransactionType, bigint][] = [[receiver, "PAYMENT_CANCEL", -whole]];
    if (used) moves.push([used[0], "INCENTIVE_USE_CANCEL", -used[2]]);
    if (toNormal > 0n) moves.push([paid![0], "PAYMENT_CANCEL", toNormal]);
    if (back > 0n) moves.push([incentive!, "INCENTIVE_CANCEL", -back]);
    if (accrued > 0n) moves.push(["incentive", "INCENTIVE_CANCEL", accrued]);
    for (const [account, , amount] of moves)
      if (amount > 0n && this.wallets.has(account)) this.receiving(org, account);
    const lines = this.moves(org, moves);
    payment.cancelled = 1n;
    return lines;
  }

  private open(org: string, id: string): Wallet {
    const wallet = this.wallets.get(id);
    if (wallet?.org !== org) throw new Refused("WAL_002");
    if (wallet.closed) throw new Refused("WAL_004");
    return wallet;
  }

  private paying(org: string, id: string): Wallet {
    const wallet = this.open(org, id);
    if (wallet.freeze !== "NONE") throw new Refused("WAL_005");
    return wallet;
  }

  private receiving(org: string, id: string): Wallet {
    const wallet = this.open(org, id);
    if (wallet.freeze === "ALL") throw new Refused("WAL_005");
    return wallet;
  }

  private move(org: string, type: TransactionType, ...moves: [string, bigint][]) {
    return this.moves(
      org,
      moves.map(([account, amount]) => [account, type, amount]),
    );
  }

  private moves(org: string, moves: [string, TransactionType, bigint][]): NonNullable<ModelAnswer["lines"]> {
    const after = new Map<string, bigint>();
    for (const [account, , amount] of moves) {
      const wallet = this.wallets.get(account);
      if (!wallet) continue;
      after.set(account, (after.get(account) ?? wallet.balance) + amount);
      if (after.get(account)! > MOST) throw new Refused("REQ_001");
    }
    const own = this.orgs.get(org) ?? { issuance: 0n, incentive: 0n, external: 0n };
    this.orgs.set(org, own);
    return moves.map(([account, type, amount]) => {
      const wallet = this.wallets.get(account);
      if (wallet) return [account, type, amount, (wallet.balance += amount)];
      const name = account as keyof typeof own;
      return [name, type, amount, (own[name] += amount)];
    });
  }
}

function contentWithoutPolicy({ intent, memo, relatedId }: LedgerRequest): string {
  const rest: Record<string, unknown> = { ...intent, memo, relatedId };
  delete rest.dailyLimitWon;
  delete rest.accrualRateBps;
  return JSON.stringify(rest, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}
