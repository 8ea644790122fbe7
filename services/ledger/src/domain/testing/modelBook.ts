import type { Freeze, FreezeSource, WalletType } from "../accountTypes";
import type { IntentKind, IntentOf } from "../intents";
import type { TransactionType } from "../types";

/**
 * The books of the model: one request at a time, plain bigint, no batches, no code of the engine. The
 * model's rules are in intents/<intent>/model.ts.
 */
export class ModelBook {
  readonly wallets = new Map<string, Wallet>();
  readonly orgs = new Map<string, Record<"issuance" | "incentive" | "external", bigint>>();
  readonly done = new Map<string, Done>();
  readonly logs = new Map<string, string>();
  /** Charged per organisation and day. */
  readonly charged = new Map<string, bigint>();

  doneOf(org: string, requestId: string): Done | undefined {
    return this.done.get(`${org}/${requestId.slice(4)}`);
  }

  walletOf(org: string, id: string): Wallet {
    const wallet = this.wallets.get(id);
    if (wallet?.org !== org) throw new Refused("WAL_002");
    return wallet;
  }

  open(org: string, id: string): Wallet {
    const wallet = this.walletOf(org, id);
    if (wallet.closed) throw new Refused("WAL_004");
    return wallet;
  }

  paying(org: string, id: string): Wallet {
    const wallet = this.open(org, id);
    if (freezeOf(wallet) !== "NONE") throw new Refused("WAL_005");
    return wallet;
  }

  receiving(org: string, id: string): Wallet {
    const wallet = this.open(org, id);
    if (freezeOf(wallet) === "ALL") throw new Refused("WAL_005");
    return wallet;
  }

  endHold(org: string, holdRequestId: string, state: "posted" | "voided"): ModelHold {
    const hold = this.doneOf(org, holdRequestId)?.hold;
    if (!hold) throw new Refused("TRF_005");
    if (hold.state !== "open") throw new Refused("TX_003");
    this.wallets.get(hold.wallet)!.held -= hold.amount;
    hold.state = state;
    return hold;
  }

  move(org: string, type: TransactionType, ...moves: [string, bigint][]): Line[] {
    return this.moves(
      org,
      moves.map(([account, amount]) => [account, type, amount]),
    );
  }

  moves(org: string, moves: Move[]): Line[] {
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

const MOST = 9_007_199_254_740_991n;

export function freezeOf({ freezes }: Wallet): Freeze {
  return (["ALL", "OUTGOING"] as const).find((kind) => Object.values(freezes).includes(kind)) ?? "NONE";
}

export class Refused extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

/** account, type, amount */
export type Move = [string, TransactionType, bigint];
/** account, type, amount, balance after */
export type Line = [string, TransactionType, bigint, bigint];

export interface ModelAnswer {
  code?: string;
  lines?: Line[];
}

export interface Wallet {
  org: string;
  user: string;
  type: WalletType;
  balance: bigint;
  held: bigint;
  closed: boolean;
  freezes: Record<FreezeSource, Freeze>;
  used: Map<string, bigint>;
}

interface ModelHold {
  wallet: string;
  amount: bigint;
  day: string;
  state: "open" | "posted" | "voided";
}

export interface Done {
  kind: IntentKind;
  content: string;
  answer: ModelAnswer;
  atMs: number;
  wallet?: string;
  amount?: bigint;
  cancelled: bigint;
  undo?: { receiver: string; parts: Move[]; accrued: bigint; incentive?: string };
  hold?: ModelHold;
}

export interface RuleContext<K extends IntentKind> {
  org: string;
  intent: IntentOf<K>;
  /** Names the request among all organisations. */
  id: string;
  done: Done;
  nowMs: number;
  day: string;
}

export type RuleOf<K extends IntentKind> = (book: ModelBook, context: RuleContext<K>) => Line[];

const DAY = new Intl.DateTimeFormat("en-CA", { timeZone: "Asia/Seoul" });

export function dayOf(ms: number): string {
  return DAY.format(ms);
}
