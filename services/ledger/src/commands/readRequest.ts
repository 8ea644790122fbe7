import { hash } from "node:crypto";
import { ADDRESS_FORM } from "@wonrail/kit/contract/address";
import { type FieldProblem, invalidRequest } from "@wonrail/kit/contract/errors";
import { readOrgId } from "@wonrail/kit/grpc/server";
import { idTimeMs, isId, type IdPrefix } from "@wonrail/kit/contract/ids";
import { parseWon, type Won } from "@wonrail/kit/contract/money";
import { isUserId, USER_ID_FORM } from "@wonrail/kit/contract/userId";
import { AccountType } from "@wonrail/proto/ledger/v1/intents";
import type { PostRequest } from "@wonrail/proto/ledger/v1/ledger";
import { contentOf } from "../domain/content";
import type { Intent, LedgerRequest, WalletType } from "../domain/types";
import type { JournalWindow } from "../store/partitions";

const MAX_MEMO = 200;
const MAX_TEXT = 255;
const MAX_RATE_BPS = 10_000;
const ANY_ID = /^[a-z]{3}_[0-9a-f]{32}$/;
const UUID_V7 = /^[a-z]{3}_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;
const CONTROL = /\p{Cc}/u;

const WALLET_TYPES: Partial<Record<AccountType, WalletType>> = {
  [AccountType.NORMAL]: "NORMAL",
  [AccountType.INCENTIVE]: "INCENTIVE",
  [AccountType.GOVERNMENT]: "GOVERNMENT",
};

/** Reads one request at the door. What is wrong with its form is REQ_001 and is not kept: the same id may come again, mended. */
export function readRequest(message: PostRequest, window: JournalWindow): LedgerRequest {
  const { requestId, memo = null, relatedId = null, requestedAt } = message;
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
  check(memo === null || [...memo].length <= MAX_MEMO, "memo", `must be at most ${MAX_MEMO} characters`);
  check(memo === null || !memo.includes("\0"), "memo", "must not hold the character NUL");
  check(relatedId === null || ANY_ID.test(relatedId), "relatedId", "must be an id");
  const intent = readIntent(message.intent);
  const contentHash = hashOf(contentOf({ intent, memo, relatedId }));
  const requestedAtMs = requestedAt?.getTime() ?? null;
  return { orgId, requestId, contentHash, memo, relatedId, requestedAtMs, intent };
}

function readIntent(intent: PostRequest["intent"]): Intent {
  switch (intent?.$case) {
    case "openAccount":
      return readOpenAccount(intent.value);
    case "closeAccount":
    case "reopenAccount":
    case "refund":
      return { kind: intent.$case, walletId: id("wal", intent.value.walletId, "walletId") };
    case "charge":
    case "accrue":
      return {
        kind: intent.$case,
        walletId: id("wal", intent.value.walletId, "walletId"),
        amountWon: positive(intent.value.amountWon, "amountWon"),
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

function readPlaceHold(value: ValueOf<"placeHold">): Intent {
  check(ADDRESS_FORM.test(value.toAddress), "toAddress", "must be an address");
  return {
    kind: "placeHold",
    walletId: id("wal", value.walletId, "walletId"),
    amountWon: positive(value.amountWon, "amountWon"),
    dailyLimitWon: parseWon(value.dailyLimitWon, "dailyLimitWon"),
    toAddress: value.toAddress.toLowerCase(),
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
