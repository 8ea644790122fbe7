import { daysAfter, minute, secondsAfter, shop, shopKey, transfer } from "./exampleFixtures";
import { type Example } from "./webhookExamples";

// The bank rehearses in the sandbox: a deposit from outside, a settlement that waits, and the time.

const { lastUsedAt: _, ...key } = shopKey;
const clockAt = minute(36);

export const sandboxStory: Example[] = [
  {
    operation: "createSandboxDeposit",
    at: minute(34),
    body: { walletId: shop.walletId, amount: 7_000 },
    data: {
      ...{ walletId: shop.walletId, amount: 7_000 },
      ...{ fromAddress: "0xde709f2102306220921060314715629080e2fb77", txHash: `0x${"f3".repeat(32)}` },
    },
  },
  ...[
    ["holdSandboxSettlement", "HELD"],
    ["failSandboxSettlement", "FAILING"],
    ["releaseSandboxSettlement", "RELEASED"],
  ].map(([operation, state], index) => ({
    operation: operation!,
    at: secondsAfter(minute(35), index),
    params: { id: transfer.transferId },
    data: { id: transfer.transferId, state },
  })),
  {
    operation: "openSandboxClock",
    at: clockAt,
    data: { time: clockAt, realTime: clockAt, aheadSeconds: 0 },
  },
  {
    operation: "advanceSandboxClock",
    at: secondsAfter(clockAt, 1),
    body: { to: daysAfter(secondsAfter(clockAt, 1), 31) },
    data: {
      time: daysAfter(secondsAfter(clockAt, 1), 31),
      ...{ realTime: secondsAfter(clockAt, 1), aheadSeconds: 31 * 86_400 },
    },
  },
  {
    operation: "expireSandboxKey",
    at: minute(37),
    params: { keyId: shopKey.keyId },
    data: { ...key, status: "EXPIRED", expiresAt: minute(37) },
  },
];
