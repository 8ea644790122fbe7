import { hash } from "node:crypto";
import { derivedId } from "@wonrail/kit/contract/ids";
import { MAX_WON, ZERO_WON, won } from "@wonrail/kit/contract/money";
import { NO_CLOCKS } from "@wonrail/kit/contract/sandboxClock";
import type { State } from "../book";
import { contentOf } from "../../intents";
import type { Decision } from "../../intents/decide";
import type { ModelAnswer } from "./model";
import type { OrgAccountType, WalletType } from "../accountTypes";
import type { Intent, IntentOf } from "../intents";
import type { Account, IdempotencyKey, LedgerRequest, Outcome } from "../types";

/**
 * Random requests meet often: two organisations, three users with a wallet of each type, and few
 * request ids.
 */
export const ORGS = ["a", "b"].map((name) => derivedId("org", name));
const USERS = ["kim", "lee", "park"];
const TYPES: WalletType[] = ["NORMAL", "INCENTIVE", "GOVERNMENT"];
const ORG_ACCOUNTS: OrgAccountType[] = ["ORG_ISSUANCE", "ORG_INCENTIVE", "ORG_EXTERNAL"];
const AMOUNTS = [1n, 99n, 100n, 333n, 1_000n, 5_000n, 9_007_199_254_740_991n];
const BYTES_PER_REQUEST = 7;
export const START_MS = Date.UTC(2026, 10, 20, 3);

export function walletId(orgId: string, userId: string, type: WalletType): string {
  return derivedId("wal", orgId, userId, type);
}

export function requestId(number: number): string {
  return `opn_${number.toString(16).padStart(32, "0")}`;
}

/** The organisations and users of the requests, and the source of their ids. */
export interface Scope {
  orgs: string[];
  users: string[];
  requestIdOf: (number: number) => string;
  log: string;
  /** Other clients charge in the same organisations, so no charge may come near the daily limit. */
  isShared: boolean;
}

const DEFAULT_SCOPE: Scope = {
  orgs: ORGS,
  users: USERS,
  requestIdOf: requestId,
  log: "log",
  isShared: false,
};

/**
 * Converts random bytes into requests. Any bytes are valid, so a failing sequence can be shrunk.
 */
export function requestsFrom(bytes: Uint8Array, scope: Scope = DEFAULT_SCOPE): LedgerRequest[] {
  const requests: LedgerRequest[] = [];
  for (let at = 0; at + BYTES_PER_REQUEST <= bytes.length; at += BYTES_PER_REQUEST) {
    requests.push(requestFrom(bytes.subarray(at, at + BYTES_PER_REQUEST), at / BYTES_PER_REQUEST, scope));
  }
  return requests;
}

function requestFrom(
  bytes: Uint8Array,
  index: number,
  { orgs, users, requestIdOf, log, isShared }: Scope,
): LedgerRequest {
  const [kind, first, second, amount, id, other, extra] = bytes;
  const orgId = orgs[extra! % 16 === 0 ? 1 : 0]!;
  const userOf = (pick: number) => users[pick % users.length]!;
  const wallet = (pick: number) =>
    walletId(orgId, pick % 19 === 0 ? `nobody ${users[0]}` : userOf(pick), typeOf(pick));
  const normal = (pick: number) => walletId(orgId, userOf(pick), pick % 11 === 0 ? "INCENTIVE" : "NORMAL");
  const amounts = isShared ? AMOUNTS.slice(0, -1) : AMOUNTS;
  const amountWon = won(amounts[amount! % amounts.length]!);
  const dailyLimitWon = won(extra! % 4 === 0 ? 1_200n : 1_000_000n);
  const maxChargeWon = won(extra! % 7 === 0 ? 5_000n : MAX_WON);
  const chargeLimitWon = won(!isShared && extra! % 5 === 0 ? 30_000n : MAX_WON);
  const earlier = requestIdOf(Math.max(0, index - 1 - (other! % 12)));
  const intents: (() => Intent)[] = [
    () => ({
      kind: "openAccount",
      walletId: walletId(orgId, userOf(first!), typeOf(second!)),
      userId: userOf(first!),
      type: typeOf(extra! % 9 === 0 ? extra! : second!),
    }),
    () => ({ kind: "closeAccount", walletId: wallet(first!) }),
    () => ({
      kind: "charge",
      walletId: wallet(first!),
      amountWon,
      dailyLimitWon: chargeLimitWon,
      maxChargeWon,
    }),
    () => ({
      kind: "charge",
      walletId: normal(first!),
      amountWon: won(10_000n),
      dailyLimitWon: chargeLimitWon,
      maxChargeWon,
    }),
    () => ({
      kind: "cancelCharge",
      chargeRequestId: earlier,
      amountWon: extra! % 3 === 0 ? null : amountWon,
    }),
    () => ({ kind: "refund", walletId: normal(first!) }),
    () => ({
      kind: "transfer",
      fromWalletId: normal(first!),
      toWalletId: normal(second!),
      toAddress: "0x0000000000000000000000000000000000000002",
      amountWon,
      dailyLimitWon,
    }),
    () => ({
      kind: "payment",
      payerWalletId: wallet(first!),
      receiverWalletId: normal(second!),
      amountWon,
      incentiveAmountWon: [null, ZERO_WON, won(99n), null][extra! % 4]!,
      accrualRateBps: [0, 100, 777, 10_000][other! % 4]!,
    }),
    () => ({ kind: "cancelPayment", paymentRequestId: earlier }),
    () => ({ kind: "refundPayment", paymentRequestId: earlier, amountWon }),
    () => ({
      kind: "charge",
      walletId: walletId(orgId, userOf(first!), "INCENTIVE"),
      amountWon,
      dailyLimitWon: chargeLimitWon,
      maxChargeWon,
    }),
    () => ({
      kind: "freezeAccount",
      walletId: wallet(first!),
      freeze: (["NONE", "OUTGOING", "NONE", "ALL", "NONE"] as const)[second! % 5]!,
      reason: "blocked",
      source: (["CHAIN", "OPERATOR"] as const)[extra! % 2]!,
    }),
    () => ({
      kind: "placeHold",
      walletId: normal(first!),
      amountWon,
      dailyLimitWon,
      toAddress: "0x0000000000000000000000000000000000000001",
    }),
    () => ({ kind: "postHold", holdRequestId: earlier }),
    () => ({ kind: "voidHold", holdRequestId: earlier }),
    () => ({
      kind: "creditExternal",
      walletId: wallet(first!),
      amountWon,
      chainLogId: `${log} ${second! % 5}`,
    }),
    () => ({ kind: "reopenAccount", walletId: wallet(first!) }),
  ];
  const intent = intents[kind! % intents.length]!();
  // Now and then an id that was used before, with the same or another content.
  const number = id! % 9 === 0 ? Math.max(0, index - 1 - (id! % 4)) : index;
  const made = request(orgId, requestIdOf(number), intent);
  return { ...made, key: number === index && id! % 5 === 0 ? keyFrom(made, log, other!) : null };
}

/** A key out of few, so that keys are reused with the same and with another body. */
function keyFrom({ contentHash }: LedgerRequest, log: string, pick: number): IdempotencyKey {
  return {
    scope: ["PAY", "CHARGE"][pick % 2]!,
    key: `${log} ${pick % 6}`,
    bodyHash: hash("sha256", pick % 3 === 0 ? contentHash : "body", "hex"),
  };
}

export function request(orgId: string, id: string, intent: Intent): LedgerRequest {
  const content = { intent, memo: null, reference: null, metadata: {}, relatedId: null };
  return { orgId, requestId: id, key: null, contentHash: contentOf(content), caller: null, ...content };
}

const NO_LIMIT = won(2n ** 62n);

/** A charge that no daily limit refuses. */
export function chargeOf(walletId: string, amount: bigint): IntentOf<"charge"> {
  return {
    kind: "charge",
    walletId,
    amountWon: won(amount),
    dailyLimitWon: NO_LIMIT,
    maxChargeWon: NO_LIMIT,
  };
}

function typeOf(pick: number): WalletType {
  return TYPES[(pick >> 2) % TYPES.length]!;
}

/** A state with the organisations' own accounts and every user's empty wallets. */
export function openState(users: string[] = USERS): State {
  const accounts = ORGS.flatMap((orgId) => [
    ...ORG_ACCOUNTS.map((type) => account(orgId, derivedId("acc", orgId, type), type, null)),
    ...users.flatMap((user) => TYPES.map((type) => account(orgId, walletId(orgId, user, type), type, user))),
  ]);
  accounts.forEach((each, index) => (each.number = BigInt(index + 1)));
  return {
    nowMs: START_MS,
    clocks: NO_CLOCKS,
    accounts,
    requests: new Map(),
    keys: new Map(),
    heads: new Map(ORGS.map((orgId) => [orgId, 0n])),
    holds: new Map(),
    cancelledCharges: new Map(),
    cancelledPayments: new Set(),
    refundedPayments: new Map(),
    credits: new Map(),
    newNumbers: Array.from({ length: 100 }, (_, index) => BigInt(1_000 + index)),
    chargeRoomWon: NO_LIMIT,
  };
}

/** Returns the state that the store would read for the next batch. */
export function stateAfter({ book }: Decision, nowMs: number): State {
  const {
    requests,
    keys,
    heads,
    holds,
    cancelledCharges,
    cancelledPayments,
    refundedPayments,
    credits,
    newNumbers,
    chargeRoomWon,
  } = book;
  const accounts = [...book.accounts.values()];
  return {
    nowMs,
    clocks: book.clocks,
    accounts,
    requests,
    keys,
    heads,
    holds,
    cancelledCharges,
    cancelledPayments,
    refundedPayments,
    credits,
    newNumbers,
    chargeRoomWon,
  };
}

export function outcomesOf({ answers }: Decision): Outcome[] {
  return answers.map(({ outcome }) => outcome);
}

/** The engine's answer in the model's words. */
export function inModelWords(outcome: Outcome): ModelAnswer {
  if (outcome.status === "refused") return { code: outcome.code };
  const names: Partial<Record<string, string>> = {
    ORG_ISSUANCE: "issuance",
    ORG_INCENTIVE: "incentive",
    ORG_EXTERNAL: "external",
  };
  return {
    lines: outcome.entry.postings.map((posting) => [
      names[posting.accountType] ?? posting.accountId,
      posting.type,
      posting.amountWon,
      posting.balanceAfterWon,
    ]),
  };
}

function account(orgId: string, id: string, type: Account["type"], userId: string | null): Account {
  const zero = {
    balanceWon: ZERO_WON,
    heldWon: ZERO_WON,
    limitUsedWon: ZERO_WON,
    limitDay: 0,
    blockTypes: 0,
    frozenByChain: "NONE" as const,
    frozenByOperator: "NONE" as const,
  };
  return {
    number: 0n,
    id,
    orgId,
    type,
    userId,
    openedAtMs: START_MS,
    closedAtMs: null,
    sequence: 0n,
    ...zero,
  };
}
