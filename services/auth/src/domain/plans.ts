import { won, type Won } from "@wonrail/kit/contract/money";

/**
 * All plans. A month is a calendar month of Asia/Seoul. Wallets count for as long as the
 * organisation exists.
 */
export const plans = {
  FREE: {
    wallets: 100n,
    moneyOperations: 1_000n,
    recordedTransactions: 1_000n,
    ratePerSecond: 10,
    rateBurst: 20,
    dailyChargeLimitWon: won(10_000_000n),
    maxChargeWon: won(1_000_000n),
  },
  STANDARD: {
    wallets: 100_000n,
    moneyOperations: 1_000_000n,
    recordedTransactions: 1_000_000n,
    ratePerSecond: 100,
    rateBurst: 200,
    dailyChargeLimitWon: won(1_000_000_000n),
    maxChargeWon: won(100_000_000n),
  },
  ENTERPRISE: {
    wallets: 10_000_000n,
    moneyOperations: 1_000_000_000n,
    recordedTransactions: 1_000_000_000n,
    ratePerSecond: 2_000,
    rateBurst: 4_000,
    dailyChargeLimitWon: won(100_000_000_000n),
    maxChargeWon: won(10_000_000_000n),
  },
} as const satisfies Record<string, PlanRules>;

export type Plan = keyof typeof plans;

export interface PlanRules {
  wallets: bigint;
  moneyOperations: bigint;
  recordedTransactions: bigint;
  /** The default rate; an operator may set another. */
  ratePerSecond: number;
  rateBurst: number;
  /** Limit of all charges on one day of Asia/Seoul, which bounds the organisation's mints. */
  dailyChargeLimitWon: Won;
  /** For a single charge. */
  maxChargeWon: Won;
}

export const QUOTAS = ["WALLETS", "MONEY_OPERATIONS", "RECORDED_TRANSACTIONS"] as const;
export type Quota = (typeof QUOTAS)[number];

export function isQuota(value: unknown): value is Quota {
  return QUOTAS.some((quota) => quota === value);
}

export const PLANS = Object.keys(plans) as Plan[];

export function quotaLimit(plan: Plan, quota: Quota): bigint {
  const rules = plans[plan];
  switch (quota) {
    case "WALLETS":
      return rules.wallets;
    case "MONEY_OPERATIONS":
      return rules.moneyOperations;
    case "RECORDED_TRANSACTIONS":
      return rules.recordedTransactions;
  }
}
