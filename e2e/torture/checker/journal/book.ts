import { type Account, type Journal, type Rules } from "./readJournal";

/** The organisation's money after an entry of its journal. */
export interface Book {
  rules: Rules;
  accounts: Map<string, BookAccount>;
  /** By the digits of their ids. */
  charges: Map<string, BookCharge>;
  payments: Map<string, BookPayment>;
  holds: Map<string, BookHold>;
}

export interface BookAccount extends Pick<Account, "id" | "type" | "userId"> {
  balance: number;
  held: number;
  sequence: number;
  isClosed: boolean;
  /** True after a freeze. The journal does not say how it ended. */
  mayBeFrozen: boolean;
  /** The part of a day's limit that is used: transfers of a wallet, charges of `issuance`. */
  limitDay: number;
  limitUsed: number;
}

export interface BookCharge {
  walletId: string;
  amount: number;
  cancelled: number;
  postedAtMs: number;
}

export interface BookPayment {
  payerUser: string;
  receiverId: string;
  amount: number;
  incentive: number;
  normal: number;
  accrued: number;
  returned: number;
  isCancelled: boolean;
}

export interface BookHold {
  walletId: string;
  amount: number;
  day: number;
  isOpen: boolean;
}

export function openBook({ accounts, rules }: Pick<Journal, "accounts" | "rules">): Book {
  const empty = { balance: 0, held: 0, sequence: 0, isClosed: false, mayBeFrozen: false };
  const unused = { limitDay: 0, limitUsed: 0 };
  return {
    rules,
    accounts: new Map(
      accounts.map(({ id, type, userId }) => [id, { id, type, userId, ...empty, ...unused }]),
    ),
    charges: new Map(),
    payments: new Map(),
    holds: new Map(),
  };
}

/** Breaks a rule of the book. */
export class Broken extends Error {}

export function accountOf({ accounts }: Book, id: string): BookAccount {
  const account = accounts.get(id);
  if (!account) throw new Broken(`the account ${id} does not exist`);
  return account;
}

export function walletOfUser({ accounts }: Book, userId: string, type: string): BookAccount | undefined {
  return [...accounts.values()].find((account) => account.userId === userId && account.type === type);
}

export function availableOf({ balance, held }: BookAccount): number {
  return balance - held;
}

export function demand(isTrue: boolean, message: string): asserts isTrue {
  if (!isTrue) throw new Broken(message);
}

const DAY_MS = 86_400_000;
const SEOUL_OFFSET_MS = 9 * 3_600_000;

/** A clock that went back over midnight does not grant the previous day again. */
export function takeFromLimit(
  account: BookAccount,
  postedAtMs: number,
  amount: number,
  limit: number,
): number {
  const today = seoulDay(postedAtMs);
  const day = account.limitDay === today + 1 ? account.limitDay : today;
  const used = (account.limitDay === day ? account.limitUsed : 0) + amount;
  demand(used <= limit, `${account.id} uses ${used} of its day's limit ${limit}`);
  account.limitDay = day;
  account.limitUsed = used;
  return day;
}

export function giveBackToLimit(account: BookAccount, day: number, amount: number): void {
  if (account.limitDay === day) account.limitUsed = Math.max(0, account.limitUsed - amount);
}

export function seoulDay(atMs: number): number {
  return Math.floor((atMs + SEOUL_OFFSET_MS) / DAY_MS);
}
