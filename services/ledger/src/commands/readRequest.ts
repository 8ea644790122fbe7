import { hash } from "node:crypto";
import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";
import { readOrgId } from "@wonrail/kit/grpc/server";
import { idTimeMs, isId, type IdPrefix } from "@wonrail/kit/contract/ids";
import { parseWon, type Won } from "@wonrail/kit/contract/money";
import { isUserId, USER_ID_FORM } from "@wonrail/kit/contract/userId";
import { AccountType, Freeze as FreezeMessage } from "@wonrail/proto/ledger/v1/intents";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { contentOf } from "../domain/content";
import type { Freeze, IdempotencyKey, Intent, LedgerRequest, WalletType } from "../domain/types";
import type { JournalWindow } from "../store/partitions";

const MAX_MEMO = 200;
const MAX_REFERENCE = 100;
const MAX_PAIRS = 10;
const MAX_METADATA_KEY = 40;
const MAX_METADATA_VALUE = 500;
const MAX_TEXT = 255;
const HASH_BYTES = 32;
const SCOPE = /^[A-Z0-9_]{1,32}$/;
const KEY = /^[\x20-\x7e]{1,255}$/;
const MAX_RATE_BPS = 10_000;
const ANY_ID = /^[a-z]{3}_[0-9a-f]{32}$/;
const UUID_V7 = /^[a-z]{3}_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
const CONTROL = /\p{Cc}/u;

const WALLET_TYPES: Partial<Record<AccountType, WalletType>> = {
  [AccountType.NORMAL]: "NORMAL",
  [AccountType.INCENTIVE]: "INCENTIVE",
  [AccountType.GOVERNMENT]: "GOVERNMENT",
};

const FREEZES: Partial<Record<FreezeMessage, Freeze>> = {
  [FreezeMessage.NONE]: "NONE",
  [FreezeMessage.OUTGOING]: "OUTGOING",
  [FreezeMessage.ALL]: "ALL",
};

/** Reads one request. A malformed request is REQ_001 and is not stored: a corrected one may use the same id. */
export function readRequest(message: PostRequest, window: JournalWindow): LedgerRequest {
  const { requestId, memo = null, reference = null, relatedId = null, metadata } = message;
  const { requestId: originId = "", traceparent = "" } = message.context ?? {};
  const orgId = readOrgId(message.context?.orgId, "context.orgId");
  check(!originId.includes("\0"), "context.requestId", "must not hold the character NUL");
  check(!traceparent.includes("\0"), "context.traceparent", "must not hold the character NUL");
  check(UUID_V7.test(requestId), "requestId", "must be a prefixed UUIDv7");
  const timeMs = idTimeMs(requestId);
  check(
    timeMs >= window.fromMs && timeMs < window.untilMs,
    "requestId",
    "is from a time that the journal does not reach",
  );
  checkText(memo, "memo", MAX_MEMO);
  checkText(reference, "reference", MAX_REFERENCE);
  checkMetadata(metadata);
  check(relatedId === null || ANY_ID.test(relatedId), "relatedId", "must be an id");
  const intent = readIntent(message.intent);
  const notes = { memo, reference, metadata, relatedId };
  const contentHash = hashOf(contentOf({ intent, ...notes }));
  return { orgId, requestId, key: readKey(message.key), contentHash, ...notes, intent };
}

function readKey(message: PostRequest["key"]): IdempotencyKey | null {
  if (message === undefined) return null;
  const { scope, key, bodyHash } = message;
  check(SCOPE.test(scope), "key.scope", "must be 1 to 32 capital letters, digits or underscores");
  check(KEY.test(key), "key.key", "must be 1 to 255 printable ASCII characters");
  check(bodyHash.length === HASH_BYTES, "key.bodyHash", `must be ${HASH_BYTES} bytes`);
  return { scope, key, bodyHash: Buffer.from(bodyHash).toString("hex") };
}

function checkText(text: string | null, path: string, max: number): void {
  check(text === null || [...text].length <= max, path, `must be at most ${max} characters`);
  check(text === null || !text.includes("\0"), path, "must not contain the character NUL");
}

function checkMetadata(metadata: Record<string, string>): void {
  const pairs = Object.entries(metadata);
  check(pairs.length <= MAX_PAIRS, "metadata", `must have at most ${MAX_PAIRS} pairs`);
  for (const [name, value] of pairs) {
    check(name !== "", "metadata", "must have no empty key");
    checkText(name, "metadata", MAX_METADATA_KEY);
    checkText(value, `metadata.${name}`, MAX_METADATA_VALUE);
  }
}

function readIntent(intent: PostRequest["intent"]): Intent {
  switch (intent?.$case) {
    case "openAccount":
      return readOpenAccount(intent.value);
    case "closeAccount":
    case "reopenAccount":
    case "refund":
      return { kind: intent.$case, walletId: id("wal", intent.value.walletId, "walletId") };
    case "freezeAccount":
      return readFreeze(intent.value);
    case "charge":
      return {
        kind: "charge",
        walletId: id("wal", intent.value.walletId, "walletId"),
        amountWon: positive(intent.value.amountWon, "amountWon"),
        dailyLimitWon: parseWon(intent.value.dailyLimitWon, "dailyLimitWon"),
      };
    case "cancelCharge":
      return {
        kind: "cancelCharge",
        chargeRequestId: anyId(intent.value.chargeRequestId, "chargeRequestId"),
        amountWon:
          intent.value.amountWon === undefined ? null : positive(intent.value.amountWon, "amountWon"),
      };
    case "transfer":
      return {
        kind: "transfer",
        fromWalletId: id("wal", intent.value.fromWalletId, "fromWalletId"),
        toWalletId: id("wal", intent.value.toWalletId, "toWalletId"),
        toAddress: address(intent.value.toAddress, "toAddress"),
        amountWon: positive(intent.value.amountWon, "amountWon"),
        dailyLimitWon: parseWon(intent.value.dailyLimitWon, "dailyLimitWon"),
      };
    case "payment":
      return readPayment(intent.value);
    case "cancelPayment":
      return {
        kind: "cancelPayment",
        paymentRequestId: anyId(intent.value.paymentRequestId, "paymentRequestId"),
      };
    case "placeHold":
      return readPlaceHold(intent.value);
    case "postHold":
    case "voidHold":
      return { kind: intent.$case, holdRequestId: anyId(intent.value.holdRequestId, "holdRequestId") };
    case "creditExternal":
      return {
        kind: "creditExternal",
        walletId: id("wal", intent.value.walletId, "walletId"),
        amountWon: positive(intent.value.amountWon, "amountWon"),
        chainLogId: text(intent.value.chainLogId, "chainLogId"),
      };
    case undefined:
      throw invalidRequest([{ path: "intent", message: "is missing or unknown to this release" }]);
  }
}

type ValueOf<C extends string> = Extract<NonNullable<PostRequest["intent"]>, { $case: C }>["value"];

function readOpenAccount({ walletId, userId, type }: ValueOf<"openAccount">): Intent {
  const walletType = WALLET_TYPES[type];
  check(walletType !== undefined, "type", "must be a wallet's type");
  return {
    kind: "openAccount",
    walletId: id("wal", walletId, "walletId"),
    userId: readUserId(userId),
    type: walletType,
  };
}

function readPayment(value: ValueOf<"payment">): Intent {
  const { incentiveAmountWon, accrualRateBps } = value;
  check(accrualRateBps <= MAX_RATE_BPS, "accrualRateBps", `must be at most ${MAX_RATE_BPS}`);
  return {
    kind: "payment",
    payerWalletId: id("wal", value.payerWalletId, "payerWalletId"),
    receiverWalletId: id("wal", value.receiverWalletId, "receiverWalletId"),
    amountWon: positive(value.amountWon, "amountWon"),
    incentiveAmountWon:
      incentiveAmountWon === undefined ? null : parseWon(incentiveAmountWon, "incentiveAmountWon"),
    accrualRateBps,
  };
}

function readFreeze({ walletId, freeze, reason }: ValueOf<"freezeAccount">): Intent {
  const known = FREEZES[freeze];
  check(known !== undefined, "freeze", "must be a kind of freeze");
  checkText(reason, "reason", MAX_MEMO);
  return { kind: "freezeAccount", walletId: id("wal", walletId, "walletId"), freeze: known, reason };
}

function address(value: string, path: string): string {
  check(ADDRESS_FORM.test(value), path, "must be an address");
  return value.toLowerCase();
}

function readPlaceHold(value: ValueOf<"placeHold">): Intent {
  return {
    kind: "placeHold",
    walletId: id("wal", value.walletId, "walletId"),
    amountWon: positive(value.amountWon, "amountWon"),
    dailyLimitWon: parseWon(value.dailyLimitWon, "dailyLimitWon"),
    toAddress: address(value.toAddress, "toAddress"),
  };
}

function id<P extends IdPrefix>(prefix: P, value: string, path: string): string {
  check(isId(prefix, value), path, `must be an id that starts with ${prefix}_`);
  return value;
}

function anyId(value: string, path: string): string {
  check(ANY_ID.test(value), path, "must be an id");
  return value;
}

function readUserId(userId: string): string {
  check(isUserId(userId), "userId", USER_ID_FORM);
  return userId;
}

function text(value: string, path: string): string {
  check(
    value.length >= 1 && value.length <= MAX_TEXT && !CONTROL.test(value),
    path,
    `must have 1 to ${MAX_TEXT} characters and no control characters`,
  );
  return value;
}

function positive(value: string, path: string): Won {
  const amountWon = parseWon(value, path);
  check(amountWon > 0n, path, "must be more than 0");
  return amountWon;
}

function check(holds: boolean, path: FieldProblem["path"], message: string): asserts holds {
  if (!holds) throw invalidRequest([{ path, message }]);
}

/** The first 128 bits, in the form of the type that stores them. */
function hashOf(content: string): string {
  const hex = hash("sha256", content, "hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
