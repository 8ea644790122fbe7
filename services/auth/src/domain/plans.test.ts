import { isQuota, plans, PLANS, QUOTAS, quotaLimit } from "./plans";

test("each plan's limits equal the contract's", () => {
  expect(PLANS.map((plan) => [plan, ...QUOTAS.map((quota) => quotaLimit(plan, quota))])).toEqual([
    ["FREE", 100n, 1_000n, 1_000n],
    ["STANDARD", 100_000n, 1_000_000n, 1_000_000n],
    ["ENTERPRISE", 10_000_000n, 1_000_000_000n, 1_000_000_000n],
  ]);
});

test("each plan has higher limits than its predecessor", () => {
  const tables = PLANS.map((plan) => Object.values(plans[plan]).map(Number));
  for (const [index, table] of tables.slice(1).entries()) {
    table.forEach((value, column) => expect(value).toBeGreaterThan(tables[index]![column]!));
  }
});

test("only the names of quotas are quotas", () => {
  expect([...QUOTAS, "wallets", "", null].map(isQuota)).toEqual([
    ...QUOTAS.map(() => true),
    false,
    false,
    false,
  ]);
});
