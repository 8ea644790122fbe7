import { newId } from "../../contract/ids";
import { IntentKind, TransactionType } from "@wonrail/proto/ledger/v1/intents";
import { Entry, HoldStatus } from "@wonrail/proto/ledger/v1/ledger";

// Entries as the ledger posts them, for tests that need no ledger.

export interface EntryNotes {
  memo?: string;
  reference?: string;
  metadata?: Record<string, string>;
}

const ISSUANCE = newId("acc");
const FUND = newId("acc");

let sequence = 0n;

function entry(
  kind: IntentKind,
  prefix: "trf" | "chg" | "ccl" | "rfd" | "pay" | "pcl" | "prf",
  of: Partial<Entry>,
): Entry {
  sequence += 1n;
  const requestId = newId(prefix);
  const postedAt = new Date(1_790_000_000_000 + Number(sequence) * 1_000);
  return Entry.fromPartial({
    ...{ requestId, relatedId: requestId, entryId: `jrn_${requestId.slice(4)}` },
    ...{ kind, postedAt, orgSequence: sequence, ...of },
  });
}

function line(accountId: string, type: TransactionType, amountWon: bigint) {
  return { accountId, type, amountWon: amountWon.toString(), balanceAfterWon: "0", sequence: 1n };
}

function balance(accountId: string, balanceWon: bigint) {
  const text = balanceWon.toString();
  return { accountId, balanceWon: text, heldWon: "0", availableWon: text, sequence: 1n };
}

export function chargeEntry(
  walletId: string,
  amountWon: bigint,
  balanceWon: bigint,
  notes: EntryNotes = {},
): Entry {
  return entry(IntentKind.CHARGE, "chg", {
    ...notes,
    postings: [
      line(ISSUANCE, TransactionType.CHARGE, -amountWon),
      line(walletId, TransactionType.CHARGE, amountWon),
    ],
    balances: [balance(walletId, balanceWon)],
  });
}

export function cancelChargeEntry(
  original: Entry,
  { amountWon, cancelledWon, balanceWon }: { amountWon: bigint; cancelledWon: bigint; balanceWon: bigint },
  notes: EntryNotes = {},
): Entry {
  const walletId = original.balances[0]!.accountId;
  const remainingWon = "0";
  return entry(IntentKind.CANCEL_CHARGE, "ccl", {
    ...notes,
    relatedId: original.requestId,
    postings: [
      line(walletId, TransactionType.CHARGE_CANCEL, -amountWon),
      line(ISSUANCE, TransactionType.CHARGE_CANCEL, amountWon),
    ],
    balances: [balance(walletId, balanceWon)],
    result: { $case: "chargeCancelled", value: { cancelledWon: cancelledWon.toString(), remainingWon } },
    original,
  });
}

export function refundEntry(walletId: string, amountWon: bigint, notes: EntryNotes = {}): Entry {
  return entry(IntentKind.REFUND, "rfd", {
    ...notes,
    postings: [
      line(walletId, TransactionType.REFUND, -amountWon),
      line(ISSUANCE, TransactionType.REFUND, amountWon),
    ],
    balances: [balance(walletId, 0n)],
  });
}

export function transferEntry(
  { fromWalletId, toWalletId, toAddress }: { fromWalletId: string; toWalletId: string; toAddress: string },
  amountWon: bigint,
  notes: EntryNotes = {},
): Entry {
  return entry(IntentKind.TRANSFER, "trf", {
    ...notes,
    postings: [
      line(fromWalletId, TransactionType.TRANSFER, -amountWon),
      line(toWalletId, TransactionType.TRANSFER, amountWon),
    ],
    result: { $case: "transferMade", value: { toAddress } },
  });
}

export function placeHoldEntry(
  { walletId, toAddress }: { walletId: string; toAddress: string },
  amountWon: bigint,
  notes: EntryNotes = {},
): Entry {
  const made = entry(IntentKind.PLACE_HOLD, "trf", notes);
  const hold = { walletId, toAddress, amountWon: amountWon.toString(), holdRequestId: made.requestId };
  return { ...made, result: { $case: "hold", value: { ...hold, status: HoldStatus.OPEN, sequence: 1n } } };
}

export function endHoldEntry(original: Entry, kind: IntentKind.POST_HOLD | IntentKind.VOID_HOLD): Entry {
  const status = kind === IntentKind.POST_HOLD ? HoldStatus.POSTED : HoldStatus.VOIDED;
  const hold = (original.result as Extract<Entry["result"], { $case: "hold" }>).value;
  return entry(kind, "trf", {
    relatedId: original.requestId,
    result: { $case: "hold", value: { ...hold, status } },
    original,
  });
}

export interface PaymentParties {
  payerWalletId: string;
  incentiveWalletId: string;
  normalWalletId: string;
  receiverWalletId: string;
}

export function paymentEntry(
  { payerWalletId, incentiveWalletId, normalWalletId, receiverWalletId }: PaymentParties,
  { incentiveWon, normalWon, accruedWon }: { incentiveWon: bigint; normalWon: bigint; accruedWon: bigint },
  notes: EntryNotes = {},
): Entry {
  const split = {
    governmentWon: "0",
    incentiveWon: incentiveWon.toString(),
    normalWon: normalWon.toString(),
  };
  return entry(IntentKind.PAYMENT, "pay", {
    ...notes,
    postings: [
      line(incentiveWalletId, TransactionType.INCENTIVE_USE, -incentiveWon),
      line(normalWalletId, TransactionType.PAYMENT, -normalWon),
      line(receiverWalletId, TransactionType.PAYMENT, incentiveWon + normalWon),
      line(FUND, TransactionType.INCENTIVE, -accruedWon),
      line(incentiveWalletId, TransactionType.INCENTIVE, accruedWon),
    ].filter(({ amountWon }) => amountWon !== "0"),
    result: {
      $case: "paymentMade",
      value: { ...split, incentiveAccruedWon: accruedWon.toString(), payerWalletId },
    },
  });
}

export function cancelPaymentEntry(original: Entry, keptWon: bigint, notes: EntryNotes = {}): Entry {
  const made = (original.result as Extract<Entry["result"], { $case: "paymentMade" }>).value;
  return entry(IntentKind.CANCEL_PAYMENT, "pcl", {
    ...notes,
    relatedId: original.requestId,
    result: {
      $case: "paymentCancelled",
      value: {
        restoredGovernmentWon: "0",
        restoredIncentiveWon: made.incentiveWon,
        restoredNormalWon: (BigInt(made.normalWon) - keptWon).toString(),
        incentiveClawedBackWon: (BigInt(made.incentiveAccruedWon) - keptWon).toString(),
        keptFromNormalWon: keptWon.toString(),
      },
    },
    original,
  });
}

/** A refund that returns NORMAL money only and claws nothing back. */
export function refundPaymentEntry(
  original: Entry,
  { amountWon, refundedWon }: { amountWon: bigint; refundedWon: bigint },
  notes: EntryNotes = {},
): Entry {
  const nothing = { restoredGovernmentWon: "0", restoredIncentiveWon: "0" };
  const part = { ...nothing, incentiveClawedBackWon: "0", keptFromNormalWon: "0" };
  return entry(IntentKind.REFUND_PAYMENT, "prf", {
    ...notes,
    relatedId: original.requestId,
    result: {
      $case: "paymentRefunded",
      value: {
        part: { ...part, restoredNormalWon: amountWon.toString() },
        refundedWon: refundedWon.toString(),
        remainingWon: "0",
      },
    },
    original,
  });
}

/** An entry of a kind that has no record. */
export function plainEntry(kind: IntentKind): Entry {
  return entry(kind, "trf", {});
}
