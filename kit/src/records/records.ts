import { assert } from "../contract/errors";
import { type Won, won } from "../contract/money";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import {
  type Entry,
  HoldStatus,
  type PaymentCancelled,
  type PaymentRefunded,
  type Posting,
  type RequestState,
} from "@wonrail/proto/ledger/v1/ledger";

// Turns a ledger entry into records. Answers, the projection, reads of one record and rebuilds all
// use it, so they cannot differ.

/** Texts that the caller wrote on a command. They change nothing about the money. */
export interface Notes {
  memo: string | null;
  reference: string | null;
  metadata: Record<string, string>;
}

interface RecordBase extends Notes {
  orgId: string;
  createdAt: Date;
}

/** A record that later entries change. `version` is the org_sequence of the newest entry in it. */
interface Versioned extends RecordBase {
  version: bigint;
}

export interface Transfer extends Versioned {
  transferId: string;
  status: "PENDING" | "COMPLETED" | "FAILED";
  fromWalletId: string;
  toWalletAddress: string;
  /** Null: the address is outside the organisation. */
  toWalletId: string | null;
  amountWon: Won;
}

export interface Charge extends Versioned {
  chargeId: string;
  walletId: string;
  amountWon: Won;
  cancelledWon: Won;
  /** The wallet's balance right after the newest entry in this record. */
  balanceWon: Won;
}

export interface ChargeCancel extends Versioned {
  cancelId: string;
  chargeId: string;
  amountWon: Won;
}

export interface Refund extends Versioned {
  refundId: string;
  walletId: string;
  amountWon: Won;
}

export interface Payment extends Versioned {
  paymentId: string;
  payerWalletId: string;
  receiverWalletId: string;
  amountWon: Won;
  governmentWon: Won;
  incentiveWon: Won;
  normalWon: Won;
  accruedWon: Won;
  /** The sum of its refunds. */
  refundedWon: Won;
  /** Null unless the payment is CANCELLED. */
  cancel: PaymentCancel | null;
}

interface Restored {
  restoredIncentiveWon: Won;
  restoredNormalWon: Won;
  clawedBackWon: Won;
  keptWon: Won;
}

export interface PaymentCancel extends Notes, Restored {
  cancelId: string;
  createdAt: Date;
}

/** One of the parts in which a payment was refunded. */
export interface PaymentRefund extends Versioned, Restored {
  refundId: string;
  paymentId: string;
  amountWon: Won;
}

/** The ids of a payment that have a settlement: its own and its cancellation's. */
export function settledIdsOf({ paymentId, cancel }: Payment): string[] {
  return cancel === null ? [paymentId] : [paymentId, cancel.cancelId];
}

/** The records that one entry creates or changes, each as that entry left it. */
export interface Records {
  transfer?: Transfer;
  charge?: Charge;
  chargeCancel?: ChargeCancel;
  refund?: Refund;
  payment?: Payment;
  paymentRefund?: PaymentRefund;
}

/** Entries that open, close or freeze a wallet and deposits have no record. */
export function recordsOf(orgId: string, entry: Entry): Records {
  switch (entry.kind) {
    case IntentKind.TRANSFER:
      return { transfer: transferOf(orgId, entry) };
    case IntentKind.PLACE_HOLD:
      return { transfer: heldTransferOf(orgId, entry) };
    case IntentKind.POST_HOLD:
    case IntentKind.VOID_HOLD:
      return { transfer: endedTransferOf(orgId, entry) };
    case IntentKind.CHARGE:
      return { charge: chargeOf(orgId, entry) };
    case IntentKind.CANCEL_CHARGE:
      return { charge: cancelledChargeOf(orgId, entry), chargeCancel: chargeCancelOf(orgId, entry) };
    case IntentKind.REFUND:
      return { refund: refundOf(orgId, entry) };
    case IntentKind.PAYMENT:
      return { payment: paymentOf(orgId, entry) };
    case IntentKind.CANCEL_PAYMENT:
      return { payment: cancelledPaymentOf(orgId, entry) };
    case IntentKind.REFUND_PAYMENT:
      return { payment: refundedPaymentOf(orgId, entry), paymentRefund: paymentRefundOf(orgId, entry) };
    default:
      return {};
  }
}

/**
 * True for the end of an entry whose month was detached. Such an entry no longer holds its whole
 * record.
 */
export function isOriginalDetached({ kind, original }: Entry): boolean {
  return original === undefined && NEEDS_ORIGINAL.includes(kind);
}

const NEEDS_ORIGINAL = [
  IntentKind.CANCEL_CHARGE,
  IntentKind.CANCEL_PAYMENT,
  IntentKind.REFUND_PAYMENT,
  IntentKind.POST_HOLD,
  IntentKind.VOID_HOLD,
];

/** A request's records and their parts, oldest first. */
export interface RecordsNow extends Records {
  chargeCancels: ChargeCancel[];
  paymentRefunds: PaymentRefund[];
}

/** The records of one request as they are now. */
export function recordsNow(orgId: string, { outcome, hold, cancellations }: RequestState): RecordsNow {
  if (outcome?.outcome?.$case !== "posted") return { chargeCancels: [], paymentRefunds: [] };
  const original = outcome.outcome.value;
  if (isOriginalDetached(original)) return { chargeCancels: [], paymentRefunds: [] };
  const cancelled = cancellations.map((entry) => recordsOf(orgId, { ...entry, original }));
  const records = { ...recordsOf(orgId, original), ...cancelled.at(-1) };
  if (records.transfer && hold)
    records.transfer = { ...records.transfer, status: STATUS_OF_HOLD[hold.status] };
  return {
    ...records,
    chargeCancels: cancelled.flatMap(({ chargeCancel }) => chargeCancel ?? []),
    paymentRefunds: cancelled.flatMap(({ paymentRefund }) => paymentRefund ?? []),
  };
}

const STATUS_OF_HOLD: Record<HoldStatus, Transfer["status"]> = {
  [HoldStatus.UNSPECIFIED]: "PENDING",
  [HoldStatus.UNRECOGNIZED]: "PENDING",
  [HoldStatus.OPEN]: "PENDING",
  [HoldStatus.POSTED]: "COMPLETED",
  [HoldStatus.VOIDED]: "FAILED",
};

function transferOf(orgId: string, entry: Entry): Transfer {
  assert(entry.result?.$case === "transferMade", `${entry.requestId} is a transfer without its result`);
  const [from, to] = [lineOf(entry, isOut), lineOf(entry, isIn)];
  return {
    ...baseOf(orgId, entry),
    transferId: entry.requestId,
    status: "COMPLETED",
    fromWalletId: from.accountId,
    toWalletAddress: entry.result.value.toAddress,
    toWalletId: to.accountId,
    amountWon: amountOf(to),
  };
}

function heldTransferOf(orgId: string, entry: Entry): Transfer {
  assert(entry.result?.$case === "hold", `${entry.requestId} places a hold without its result`);
  const { walletId, toAddress, amountWon } = entry.result.value;
  return {
    ...baseOf(orgId, entry),
    transferId: entry.requestId,
    status: "PENDING",
    fromWalletId: walletId,
    toWalletAddress: toAddress,
    toWalletId: null,
    amountWon: wonOf(amountWon),
  };
}

function endedTransferOf(orgId: string, entry: Entry): Transfer {
  return {
    ...heldTransferOf(orgId, originalOf(entry)),
    status: entry.kind === IntentKind.POST_HOLD ? "COMPLETED" : "FAILED",
    version: entry.orgSequence,
  };
}

function chargeOf(orgId: string, entry: Entry): Charge {
  const line = lineOf(entry, isOfWallet);
  return {
    ...baseOf(orgId, entry),
    chargeId: entry.requestId,
    walletId: line.accountId,
    amountWon: amountOf(line),
    cancelledWon: won(0n),
    balanceWon: balanceOf(entry, line.accountId),
  };
}

function cancelledChargeOf(orgId: string, entry: Entry): Charge {
  assert(entry.result?.$case === "chargeCancelled", `${entry.requestId} cancels a charge without its result`);
  const charge = chargeOf(orgId, originalOf(entry));
  return {
    ...charge,
    cancelledWon: wonOf(entry.result.value.cancelledWon),
    balanceWon: balanceOf(entry, charge.walletId),
    version: entry.orgSequence,
  };
}

function chargeCancelOf(orgId: string, entry: Entry): ChargeCancel {
  return {
    ...baseOf(orgId, entry),
    cancelId: entry.requestId,
    chargeId: originalOf(entry).requestId,
    amountWon: amountOf(lineOf(entry, isOfWallet)),
  };
}

function refundOf(orgId: string, entry: Entry): Refund {
  const line = lineOf(entry, isOfWallet);
  return {
    ...baseOf(orgId, entry),
    refundId: entry.requestId,
    walletId: line.accountId,
    amountWon: amountOf(line),
  };
}

function paymentOf(orgId: string, entry: Entry): Payment {
  assert(entry.result?.$case === "paymentMade", `${entry.requestId} is a payment without its result`);
  const split = entry.result.value;
  const received = lineOf(entry, (line) => line.type === TransactionType.PAYMENT && isIn(line));
  return {
    ...baseOf(orgId, entry),
    paymentId: entry.requestId,
    payerWalletId: split.payerWalletId,
    receiverWalletId: received.accountId,
    amountWon: amountOf(received),
    governmentWon: wonOf(split.governmentWon),
    incentiveWon: wonOf(split.incentiveWon),
    normalWon: wonOf(split.normalWon),
    accruedWon: wonOf(split.incentiveAccruedWon),
    refundedWon: won(0n),
    cancel: null,
  };
}

function cancelledPaymentOf(orgId: string, entry: Entry): Payment {
  assert(
    entry.result?.$case === "paymentCancelled",
    `${entry.requestId} cancels a payment without its result`,
  );
  const cancel = {
    ...notesOf(entry),
    cancelId: entry.requestId,
    ...restoredOf(entry.result.value),
    createdAt: postedAtOf(entry),
  };
  return { ...paymentOf(orgId, originalOf(entry)), cancel, version: entry.orgSequence };
}

function refundedPaymentOf(orgId: string, entry: Entry): Payment {
  const refundedWon = wonOf(refundResultOf(entry).refundedWon);
  return { ...paymentOf(orgId, originalOf(entry)), refundedWon, version: entry.orgSequence };
}

function paymentRefundOf(orgId: string, entry: Entry): PaymentRefund {
  const { part } = refundResultOf(entry);
  assert(part, `${entry.requestId} refunds a payment without its part`);
  const restored = restoredOf(part);
  return {
    ...baseOf(orgId, entry),
    refundId: entry.requestId,
    paymentId: originalOf(entry).requestId,
    amountWon: won(restored.restoredIncentiveWon + restored.restoredNormalWon + restored.keptWon),
    ...restored,
  };
}

function refundResultOf({ requestId, result }: Entry): PaymentRefunded {
  assert(result?.$case === "paymentRefunded", `${requestId} refunds a payment without its result`);
  return result.value;
}

function restoredOf(part: PaymentCancelled): Restored {
  return {
    restoredIncentiveWon: wonOf(part.restoredIncentiveWon),
    restoredNormalWon: wonOf(part.restoredNormalWon),
    clawedBackWon: wonOf(part.incentiveClawedBackWon),
    keptWon: wonOf(part.keptFromNormalWon),
  };
}

function baseOf(orgId: string, entry: Entry): Versioned {
  return { ...notesOf(entry), orgId, version: entry.orgSequence, createdAt: postedAtOf(entry) };
}

function notesOf({ memo, reference, metadata }: Entry): Notes {
  return { memo: memo ?? null, reference: reference ?? null, metadata };
}

function postedAtOf({ requestId, postedAt }: Entry): Date {
  assert(postedAt, `${requestId} has no time`);
  return postedAt;
}

function originalOf({ requestId, original }: Entry): Entry {
  assert(original, `${requestId} does not carry the entry that it cancels or ends`);
  return original;
}

function balanceOf({ requestId, balances }: Entry, walletId: string): Won {
  const after = balances.find(({ accountId }) => accountId === walletId);
  assert(after, `${requestId} has no balance of ${walletId}`);
  return wonOf(after.balanceWon);
}

function lineOf({ requestId, postings }: Entry, isWanted: (line: Posting) => boolean): Posting {
  const line = postings.find(isWanted);
  assert(line, `${requestId} lacks a line`);
  return line;
}

function isOfWallet({ accountId }: Posting): boolean {
  return accountId.startsWith("wal_");
}

function isOut({ amountWon }: Posting): boolean {
  return amountWon.startsWith("-");
}

function isIn(line: Posting): boolean {
  return !isOut(line);
}

/** Without its sign. */
function amountOf({ amountWon }: Posting): Won {
  const amount = BigInt(amountWon);
  return won(amount < 0n ? -amount : amount);
}

function wonOf(text: string): Won {
  return won(BigInt(text));
}
