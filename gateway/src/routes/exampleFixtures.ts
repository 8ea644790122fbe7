import { errorTable } from "@wonrail/kit/contract/errors";
import { SCOPES } from "@wonrail/kit/contract/scopes";
import { type IdPrefix } from "@wonrail/kit/contract/ids";

// Objects of the examples in examples.ts, as the service would return them.

export const STORY_BEGINS_AT = "2026-01-14T00:30:00.000Z";
const DAY_MS = 86_400_000;

/** An id with that creation time. */
export function exampleId(prefix: IdPrefix, at: string = STORY_BEGINS_AT): string {
  return `${prefix}_${Date.parse(at).toString(16).padStart(12, "0")}7c4d8e5f60718293a4b5`;
}

export function minute(count: number): string {
  return new Date(Date.parse(STORY_BEGINS_AT) + count * 60_000).toISOString();
}

export function secondsAfter(at: string, seconds: number): string {
  return new Date(Date.parse(at) + seconds * 1_000).toISOString();
}

export function daysAfter(at: string, days: number): string {
  return new Date(Date.parse(at) + days * DAY_MS).toISOString();
}

export function pageOf(...items: object[]) {
  const pagination = {
    limit: 20,
    currentPage: 1,
    hasNext: false,
    nextCursor: null,
    totalCount: items.length,
  };
  return { items, pagination };
}

export const pending = { status: "PENDING", network: "WON_TESTNET", txHash: null, blockNumber: null };

function confirmed(hashByte: string, blockNumber: number) {
  return { ...pending, status: "CONFIRMED", txHash: `0x${hashByte.repeat(32)}`, blockNumber };
}

export const firstKey = "wk_test_0Ab3Cd6Ef9Gh_0123456789ABCDEFGHIJKLMNOPQRSTUV0AbC3d";
export const newKey = "wk_test_9Ij2Kl5Mn8Op_VUTSRQPONMLKJIHGFEDCBA98765432100Ef6Gh";
export const newSecretKey = "sk_test_zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJ0Ef6Gh";
export const secretKey = "sk_test_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg0AbC3d";
const begunAt = "2025-11-01T00:00:00.000Z";

function keyOf({ issuedAt, ...rest }: { prefix: string; issuedAt: string; scopes: string[]; name?: string }) {
  return {
    keyId: exampleId("key", issuedAt),
    name: "API key",
    allowedAddresses: [] as string[],
    apiVersion: "2026-01-01",
    status: "CURRENT",
    predecessorId: null as string | null,
    issuedAt,
    expiresAt: daysAfter(issuedAt, 90),
    overlapEndsAt: null as string | null,
    revokedAt: null as string | null,
    ...rest,
  };
}

const shopKeyText = "wk_test_3Qr4St5Uv6Wx_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123450Gh7Ij";
const shopKeyIssuedAt = secondsAfter(minute(1), 10);
/** The key that the story issues for a shop and later revokes. */
const newShopKey = {
  ...keyOf({
    ...{ prefix: shopKeyText.slice(0, 20), issuedAt: shopKeyIssuedAt, name: "Online shop" },
    scopes: ["wallets:read", "payments:read", "payments:write"],
  }),
  allowedAddresses: ["203.0.113.0/24"],
};
export const issuedShopKey = { ...newShopKey, apiKey: shopKeyText };
export const shopKey = { ...newShopKey, lastUsedAt: null as string | null };

export const session = {
  organisation: {
    orgId: exampleId("org", begunAt),
    orgCode: "ACME",
    name: "Acme Bank",
    status: "ACTIVE",
    incentiveRateBps: 100,
    dailyTransferLimit: 5_000_000,
  },
  key: keyOf({ prefix: firstKey.slice(0, 20), issuedAt: begunAt, scopes: [...SCOPES] }),
  plan: "STANDARD",
  subscription: { active: true, startsAt: begunAt, endsAt: daysAfter(begunAt, 365) },
  rateLimit: { perSecond: 100, burst: 200 },
  usage: [
    { quota: "WALLETS", limit: 100_000, used: 1_200, reserved: 0, resetsAt: null },
    ...["MONEY_OPERATIONS", "RECORDED_TRANSACTIONS"].map((quota) => ({
      quota,
      limit: 1_000_000,
      used: 4_800,
      reserved: 50,
      resetsAt: "2026-01-31T15:00:00.000Z",
    })),
  ],
};

/** The key of the session in the list of keys. */
export const usedFirstKey = { ...session.key, lastUsedAt: minute(1) };

function newWallet(userId: string, walletAddress: string, createdAt: string) {
  return {
    walletId: exampleId("wal", createdAt),
    userId,
    walletType: "NORMAL",
    walletAddress,
    balance: 0,
    status: "ACTIVE",
    metadata: userId.startsWith("shop") ? {} : { branch: "Seoul" },
    createdAt,
  };
}

export const newPayer = newWallet("user-1001", "0x52908400098527886E0F7030069857D2E4169EE7", minute(3));
const newShop = newWallet("shop-7", "0x8617E340B3D01FA5F11F306F4090FD50E238070D", minute(4));
export const payer = { ...newPayer, availableBalance: 0, updatedAt: newPayer.createdAt };
export const shop = { ...newShop, availableBalance: 0, updatedAt: newShop.createdAt };
export const { walletId: payerWalletId } = payer;
export const { walletId: receiverWalletId, walletAddress: shopAddress } = shop;
export const movedPayer = { ...payer, metadata: { branch: "Busan" }, updatedAt: minute(12) };

const noNotes = { memo: null, reference: null, metadata: {} };

export const charge = {
  chargeId: exampleId("chg", minute(6)),
  status: "CHARGED",
  walletId: payerWalletId,
  amount: 50_000,
  cancelledAmount: 0,
  balance: 50_000,
  cancellableUntil: daysAfter(minute(6), 30),
  ...noNotes,
  settlement: pending,
  createdAt: minute(6),
};
export const partOfCharge = {
  ...charge,
  status: "PARTIALLY_CANCELLED",
  cancelledAmount: 20_000,
  balance: 8_000,
  settlement: confirmed("4e", 128),
};
export const chargeCancellation = {
  cancelId: exampleId("ccl", minute(13)),
  settlement: pending,
  amount: 20_000,
  ...noNotes,
  createdAt: minute(13),
};

export const refund = {
  refundId: exampleId("rfd", minute(27)),
  walletId: payerWalletId,
  amount: 10_000,
  ...noNotes,
  settlement: pending,
  createdAt: minute(27),
};
export const settledRefund = { ...refund, settlement: confirmed("7b", 131) };

export const transfer = {
  transferId: exampleId("trf", minute(7)),
  status: "COMPLETED",
  fromWalletId: payerWalletId,
  toWalletAddress: shopAddress,
  toWalletId: receiverWalletId,
  amount: 10_000,
  ...noNotes,
  memo: "Deposit",
  settlement: pending,
  failureReason: null,
  createdAt: minute(7),
};
export const settledTransfer = { ...transfer, settlement: confirmed("4e", 128) };

export const payoutRequest = {
  fromWalletId: payerWalletId,
  mode: "BEST_EFFORT",
  dryRun: true,
  rows: [
    { toWalletAddress: shopAddress, amount: 3_000, reference: "salary-0001" },
    { toWalletAddress: shopAddress, amount: 6_000, reference: "salary-0002" },
  ],
};
export const payout = {
  payoutId: exampleId("pyo", secondsAfter(minute(20), 10)),
  status: "PENDING",
  mode: "BEST_EFFORT",
  dryRun: true,
  fromWalletId: payerWalletId,
  totalAmount: 9_000,
  acceptedAmount: 0,
  rowCount: 2,
  acceptedCount: 0,
  refusedCount: 0,
  skippedCount: 0,
  createdAt: secondsAfter(minute(20), 10),
  completedAt: null as string | null,
};
export const endedPayout = {
  ...{ ...payout, status: "COMPLETED", acceptedAmount: 3_000, acceptedCount: 1, refusedCount: 1 },
  completedAt: secondsAfter(minute(20), 11),
};
const payoutRow = { ...noNotes, toWalletAddress: shopAddress, idempotencyKey: null, transferId: null };
export const payoutRows = [
  { ...payoutRow, index: 0, status: "ACCEPTED", amount: 3_000, reference: "salary-0001", error: null },
  {
    ...{ ...payoutRow, index: 1, status: "REFUSED", amount: 6_000, reference: "salary-0002" },
    error: {
      code: "TRF_001",
      message: errorTable.TRF_001.message,
      details: { available: 5_000, required: 6_000 },
    },
  },
];

export const firstPayment = {
  paymentId: exampleId("pay", minute(8)),
  status: "PAID",
  payerWalletId,
  receiverWalletId,
  amount: 12_000,
  breakdown: { government: 0, incentive: 0, normal: 12_000 },
  incentiveAccrued: 120,
  refundedAmount: 0,
  memo: "Order 20260114-0021",
  reference: "20260114-0021",
  metadata: { till: "3" },
  settlement: pending,
  cancellation: null,
  createdAt: minute(8),
};
export const secondPayment = {
  ...firstPayment,
  paymentId: exampleId("pay", minute(9)),
  amount: 5_000,
  breakdown: { government: 0, incentive: 100, normal: 4_900 },
  incentiveAccrued: 49,
  memo: "Order 20260114-0022",
  reference: "20260114-0022",
  createdAt: minute(9),
};
const cancellationEffect = {
  restored: { incentive: 100, normal: 4_900 },
  incentiveClawedBack: 49,
  keptFromNormal: 0,
};
const cancellation = {
  cancelId: exampleId("pcl", minute(10)),
  ...cancellationEffect,
  memo: "Sent back",
  reference: null,
  metadata: {},
  settlement: pending,
  createdAt: minute(10),
};
export const cancelledPayment = { ...secondPayment, status: "CANCELLED", cancellation };
/** Answer of the cancellation. */
export const justCancelled = {
  ...cancelledPayment,
  cancelId: cancellation.cancelId,
  ...cancellationEffect,
};
const refundedAt = secondsAfter(minute(26), 9);
const paymentRefund = {
  refundId: exampleId("prf", refundedAt),
  amount: 2_000,
  restored: { incentive: 0, normal: 2_000 },
  incentiveClawedBack: 20,
  keptFromNormal: 0,
  memo: "One item returned",
  reference: null,
  metadata: {},
  settlement: pending,
  createdAt: refundedAt,
};
/** Answer of the refund of a part. */
export const refundedPayment = {
  ...firstPayment,
  status: "PARTIALLY_REFUNDED",
  refundedAmount: paymentRefund.amount,
  refundId: paymentRefund.refundId,
  refund: paymentRefund,
};
const wayBack = { ...cancellation, settlement: confirmed("6c", 130) };
export const settledPayments = [
  { ...cancelledPayment, settlement: confirmed("5f", 129), cancellation: wayBack },
  { ...firstPayment, settlement: confirmed("5f", 129) },
];

function line(number: number, at: string, changes: object) {
  return {
    walletId: payerWalletId,
    transactionId: `${exampleId("jrn", at)}-${number}`,
    type: "PAYMENT",
    direction: "OUT",
    counterparty: receiverWalletId,
    cancelId: null,
    status: "PAID",
    settlement: confirmed("5f", 129),
    createdAt: at,
    ...changes,
  };
}

export const lines = [
  line(5, minute(10), {
    type: "PAYMENT_CANCEL",
    direction: "IN",
    amount: 4_900,
    balanceAfter: 28_000,
    memo: cancellation.memo,
    reference: null,
    relatedId: secondPayment.paymentId,
    status: "CANCELLED",
    cancelId: cancellation.cancelId,
  }),
  line(4, minute(9), {
    amount: 4_900,
    balanceAfter: 23_100,
    memo: secondPayment.memo,
    reference: secondPayment.reference,
    relatedId: secondPayment.paymentId,
    status: "CANCELLED",
  }),
  line(3, minute(8), {
    amount: 12_000,
    balanceAfter: 28_000,
    memo: firstPayment.memo,
    reference: firstPayment.reference,
    relatedId: firstPayment.paymentId,
  }),
];

/** The first payment on the receiver's side. */
export const receivedLine = {
  ...lines[2]!,
  walletId: receiverWalletId,
  direction: "IN",
  counterparty: payerWalletId,
  balanceAfter: 22_000,
};

export const instantRequest = {
  paymentType: "INSTANT",
  fromNetworkType: "BASE_SEPOLIA",
  toNetworkType: "BASE_SEPOLIA",
  fromAddress: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  toAddress: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  txHash: `0x${"6a".repeat(32)}`,
  amount: "12000000000",
  fee: "0",
  memo: "Order 20260114-0020",
};
export const instant = {
  ...noNotes,
  ...instantRequest,
  id: exampleId("txn", minute(21)),
  scheduledAt: null,
  status: "PENDING",
  failureReason: null,
  createdAt: minute(21),
  updatedAt: minute(21),
};
export const done = { ...instant, status: "CONFIRMED", updatedAt: minute(23) };
export const madeOnRequest = { scheduledAt: null, reason: null, changedBy: "API" };

/** So far ahead that it does not become due while the example is in use. */
export const scheduledRequest = {
  paymentType: "SCHEDULED",
  fromNetworkType: "WON_TESTNET",
  toNetworkType: "WON_TESTNET",
  fromAddress: shopAddress,
  toAddress: "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  amount: "1000000000",
  memo: "Payout",
  scheduledAt: "2099-01-14T09:30:00+09:00",
};
export const scheduled = {
  ...noNotes,
  ...scheduledRequest,
  id: exampleId("txn", minute(22)),
  fee: null,
  txHash: null,
  scheduledAt: "2099-01-14T00:30:00.000Z",
  status: "PENDING",
  failureReason: null,
  createdAt: minute(22),
  updatedAt: minute(22),
};
export const later = { ...scheduled, scheduledAt: "2099-02-14T00:30:00.000Z", updatedAt: minute(24) };
