import { DomainError, assert } from "@wonrail/kit/contract/errors";
import { MAX_WON, won, type Won } from "@wonrail/kit/contract/money";
import { clockTimeMs, type SandboxClocks } from "@wonrail/kit/contract/sandboxClock";
import { typeBit } from "./typeBits";
import { isOrgAccount, isStricter, type Freeze, type OrgAccountType } from "./accountTypes";
import {
  POSTINGS_PER_BLOCK,
  type Account,
  type AnsweredRequest,
  type BalanceAfter,
  type Entry,
  type Hold,
  type LedgerRequest,
  type Posting,
  type TransactionType,
  type UsedKey,
} from "./types";

/** The input of a batch's decision: every account that it may touch, locked, and the rows that its requests refer to. */
export interface State {
  /** The database's clock, the same for all replicas, read after the locks. */
  nowMs: number;
  /** Test clocks of the sandbox. Empty on a main network. */
  clocks: SandboxClocks;
  accounts: Account[];
  /**
   * Earlier requests with the batch's ids, and the entries that its cancellations name; by
   * `requestKey`.
   */
  requests: Map<string, AnsweredRequest>;
  /** Idempotency keys of this batch that were used before, by `keyOf`. */
  keys: Map<string, UsedKey>;
  /** Sequence of each organisation's newest entry, locked. */
  heads: Map<string, bigint>;
  /** By `requestKey` of the hold. */
  holds: Map<string, Hold>;
  /** How much of a charge is cancelled, by `requestKey` of the charge. */
  cancelledCharges: Map<string, Won>;
  /** `requestKey`s of payments. */
  cancelledPayments: Set<string>;
  /** How much of a payment is refunded in parts, by `requestKey` of the payment. */
  refundedPayments: Map<string, Won>;
  /** `requestKey`s of the entries that credited a log, by organisation and log. */
  credits: Map<string, string>;
  /** For the accounts that this batch opens. */
  newNumbers: bigint[];
  /** This batch's part of the service's charge limit of the day. */
  chargeRoomWon: Won;
}

/** The changes of a batch, in the order of its decisions. */
export interface Changes {
  opened: Account[];
  touched: Set<Account>;
  /** New sequence of each organisation's newest entry. */
  heads: Map<string, bigint>;
  /** Everything that is answered for the first time. */
  answered: { request: LedgerRequest; answer: AnsweredRequest }[];
  typeBlocks: { accountNumber: bigint; types: number; sequence: bigint }[];
  holds: Set<Hold>;
  cancelledCharges: Map<
    string,
    { orgId: string; chargeRequestId: string; amountWon: Won; cancelledWon: Won }
  >;
  cancelledPayments: { orgId: string; paymentRequestId: string; cancelRequestId: string }[];
  refundedPayments: Map<
    string,
    { orgId: string; paymentRequestId: string; amountWon: Won; refundedWon: Won }
  >;
  credits: { orgId: string; chainLogId: string; requestId: string }[];
}

/** The working copy of one batch. */
export interface Book extends Omit<State, "accounts"> {
  accounts: Map<string, Account>;
  byUser: Map<string, Account[]>;
  orgAccounts: Map<string, Account>;
  changes: Changes;
}

export interface Move {
  account: Account;
  type: TransactionType;
  amountWon: Won;
}

export function openBook(state: State): Book {
  const book: Book = {
    nowMs: state.nowMs,
    clocks: state.clocks,
    accounts: new Map(),
    byUser: new Map(),
    orgAccounts: new Map(),
    requests: new Map(state.requests),
    keys: new Map(state.keys),
    heads: new Map(state.heads),
    holds: new Map([...state.holds].map(([key, hold]) => [key, { ...hold }])),
    cancelledCharges: new Map(state.cancelledCharges),
    cancelledPayments: new Set(state.cancelledPayments),
    refundedPayments: new Map(state.refundedPayments),
    credits: new Map(state.credits),
    newNumbers: [...state.newNumbers],
    chargeRoomWon: state.chargeRoomWon,
    changes: {
      opened: [],
      touched: new Set(),
      heads: new Map(),
      answered: [],
      typeBlocks: [],
      holds: new Set(),
      cancelledCharges: new Map(),
      cancelledPayments: [],
      refundedPayments: new Map(),
      credits: [],
    },
  };
  for (const account of state.accounts) addAccount(book, { ...account });
  return book;
}

export function addAccount(book: Book, account: Account): void {
  book.accounts.set(account.id, account);
  if (account.userId === null) {
    book.orgAccounts.set(`${account.orgId} ${account.type}`, account);
    return;
  }
  const key = `${account.orgId} ${account.userId}`;
  const wallets = book.byUser.get(key);
  if (wallets) wallets.push(account);
  else book.byUser.set(key, [account]);
}

/** The time that decides about days and periods: the real time, or that of the test clock. */
export function decidingMs({ clocks, nowMs }: Book, orgId: string, realMs: number = nowMs): number {
  return clockTimeMs(clocks, orgId, realMs);
}

/** A wallet of the organisation. Another organisation's answers exactly as an absent one. */
export function walletOf(book: Book, orgId: string, walletId: string): Account {
  const account = book.accounts.get(walletId);
  if (!account || account.orgId !== orgId || isOrgAccount(account.type)) {
    throw new DomainError("WAL_002", { walletId });
  }
  return account;
}

export function openWalletOf(book: Book, orgId: string, walletId: string): Account {
  const account = walletOf(book, orgId, walletId);
  requireOpen(account);
  return account;
}

function requireOpen(account: Account): void {
  if (account.closedAtMs !== null) throw new DomainError("WAL_004", { walletId: account.id });
}

/** A wallet that money may leave: open and not frozen. */
export function payingWalletOf(book: Book, orgId: string, walletId: string): Account {
  const account = walletOf(book, orgId, walletId);
  requirePaying(account);
  return account;
}

/** A wallet that money may reach: open, and not frozen for all movements. */
export function receivingWalletOf(book: Book, orgId: string, walletId: string): Account {
  const account = walletOf(book, orgId, walletId);
  requireReceiving(account);
  return account;
}

export function requirePaying(account: Account): void {
  requireOpen(account);
  if (!canPay(account)) throw frozen(account);
}

export function requireReceiving(account: Account): void {
  requireOpen(account);
  if (!canReceive(account)) throw frozen(account);
}

export function canPay(account: Account): boolean {
  return account.closedAtMs === null && freezeOf(account) === "NONE";
}

export function canReceive(account: Account): boolean {
  return account.closedAtMs === null && freezeOf(account) !== "ALL";
}

/** The stricter one of the two freezes. */
function freezeOf({ frozenByChain, frozenByOperator }: Account): Freeze {
  return isStricter(frozenByChain, frozenByOperator) ? frozenByChain : frozenByOperator;
}

function frozen(account: Account): DomainError {
  return new DomainError("WAL_005", { walletId: account.id, freeze: freezeOf(account) });
}

export function walletsOfUser(book: Book, orgId: string, userId: string): Account[] {
  return book.byUser.get(`${orgId} ${userId}`) ?? [];
}

export function orgAccountOf(book: Book, orgId: string, type: OrgAccountType): Account {
  const account = book.orgAccounts.get(`${orgId} ${type}`);
  assert(account, `the organisation's ${type} account was not loaded`);
  return account;
}

/** The account of a posting that is in the journal already. */
export function accountOfPosting(book: Book, posting: Posting): Account {
  const account = book.accounts.get(posting.accountId);
  assert(account, "an account of the original entry was not loaded");
  return account;
}

export function availableOf(account: Account): Won {
  return won(account.balanceWon - account.heldWon);
}

export function requireAvailable(account: Account, amountWon: Won, code: "TRF_001" | "PAY_001"): void {
  const availableWon = availableOf(account);
  if (availableWon < amountWon) throw tooLittle(code, availableWon, amountWon);
}

export function tooLittle(code: "TRF_001" | "PAY_001", availableWon: Won, requiredWon: Won): DomainError {
  return new DomainError(code, { available: Number(availableWon), required: Number(requiredWon) });
}

/** Only NORMAL wallets send and receive transfers. */
export function requireTransferable(wallet: Account): void {
  if (wallet.type !== "NORMAL") throw new DomainError("TRF_004", { walletId: wallet.id });
}

export function creditKey(orgId: string, chainLogId: string): string {
  return `${orgId} ${chainLogId}`;
}

export function minus(amountWon: Won): Won {
  return won(0n - amountWon);
}

/**
 * Every balance change passes here. It throws before the first change, so it applies all moves or
 * none.
 */
export function post(book: Book, request: LedgerRequest, moves: Move[]): Entry {
  checkMoves(moves, request.intent.kind === "cancelPayment" ? "paymentId" : "amount");
  const postings = moves.map(({ account, type, amountWon }): Posting => {
    account.balanceWon = won(account.balanceWon + amountWon);
    account.sequence += 1n;
    noteType(book, account, type);
    return {
      accountNumber: account.number,
      accountId: account.id,
      accountType: account.type,
      type,
      amountWon,
      balanceAfterWon: account.balanceWon,
      sequence: account.sequence,
    };
  });
  return record(
    book,
    request,
    moves.map(({ account }) => account),
    postings,
  );
}

/** Records an entry without moves; other changes are in its accounts. */
export function record(
  book: Book,
  request: LedgerRequest,
  accounts: readonly Account[],
  postings: Posting[] = [],
): Entry {
  const balances: BalanceAfter[] = [];
  accounts.forEach((account, index) => {
    book.changes.touched.add(account);
    if (isOrgAccount(account.type) || accounts.indexOf(account) < index) return;
    const { id, balanceWon, heldWon, sequence } = account;
    balances.push({ accountId: id, balanceWon, heldWon, sequence });
  });
  return {
    kind: request.intent.kind,
    orgId: request.orgId,
    requestId: request.requestId,
    relatedId: request.relatedId,
    memo: request.memo,
    reference: request.reference,
    metadata: request.metadata,
    postedAtMs: book.nowMs,
    orgSequence: nextOrgSequence(book, request.orgId),
    postings,
    balances,
    chargeCancelled: null,
    paymentRefunded: null,
    hold: null,
    toAddress: null,
    payerWalletId: null,
    freeze: null,
    original: null,
  };
}

function nextOrgSequence(book: Book, orgId: string): bigint {
  const last = book.heads.get(orgId);
  assert(last !== undefined, "the organisation's journal head was not loaded");
  book.heads.set(orgId, last + 1n);
  book.changes.heads.set(orgId, last + 1n);
  return last + 1n;
}

/** Refuses an amount that an account cannot hold, at the field `path`. */
function checkMoves(moves: Move[], path: string): void {
  let sum = 0n;
  moves.forEach(({ account, amountWon }, index) => {
    assert(amountWon !== 0n, "a posting must move something");
    sum += amountWon;
    const balance = balanceAfter(moves, account, index);
    if (isOrgAccount(account.type)) return requireRoom(balance, path);
    assert(balance >= account.heldWon, "no rule may let a wallet fall below what it holds");
    // A larger balance could not be shown exactly.
    if (balance > MAX_WON) throw tooMuch(path, `would bring the wallet ${account.id} above ${MAX_WON}`);
  });
  assert(sum === 0n && moves.length >= 2, "an entry must have two postings or more that sum to zero");
}

/** Refuses a balance that an organisation's own account cannot have. */
export function requireRoom(balance: bigint, path = "amount"): void {
  if (BigInt.asIntN(64, balance) !== balance)
    throw tooMuch(path, "is more than the organisation's books hold");
}

/**
 * The balance after the moves up to this one. An entry has few moves, so scanning them is cheaper
 * than keeping sums.
 */
function balanceAfter(moves: Move[], account: Account, last: number): bigint {
  let balance: bigint = account.balanceWon;
  for (let index = 0; index <= last; index += 1) {
    if (moves[index]!.account === account) balance += moves[index]!.amountWon;
  }
  return balance;
}

function tooMuch(path: string, message: string): DomainError {
  return new DomainError("REQ_001", { fields: [{ path, message }] });
}

function noteType(book: Book, account: Account, type: TransactionType): void {
  account.blockTypes |= typeBit(type);
  if (account.sequence % POSTINGS_PER_BLOCK !== 0n) return;
  book.changes.typeBlocks.push({
    accountNumber: account.number,
    types: account.blockTypes,
    sequence: account.sequence,
  });
  account.blockTypes = 0;
}
