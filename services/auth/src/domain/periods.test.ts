import { monthInSeoul, monthsAgoInSeoul, periodOf } from "./periods";

test.each([
  // A month begins at 00:00 in Seoul, which is 15:00 of the day before in UTC.
  ["2025-10-31T14:59:59.999Z", "2025-10", "2025-10-31T15:00:00.000Z"],
  ["2025-10-31T15:00:00.000Z", "2025-11", "2025-11-30T15:00:00.000Z"],
  ["2025-12-31T15:00:00.000Z", "2026-01", "2026-01-31T15:00:00.000Z"],
  ["2028-02-10T00:00:00.000Z", "2028-02", "2028-02-29T15:00:00.000Z"],
])("%s is in the month %s, which ends at %s", (now, name, resetsAt) => {
  expect(monthInSeoul(new Date(now))).toEqual({ name, resetsAt: new Date(resetsAt) });
});

test("wallets are counted for ever, operations and recorded transactions by month", () => {
  const now = new Date("2025-11-21T00:00:00Z");
  expect(periodOf("WALLETS", now)).toEqual({ name: "ever" });
  expect(periodOf("MONEY_OPERATIONS", now).name).toBe("2025-11");
  expect(periodOf("RECORDED_TRANSACTIONS", now).name).toBe("2025-11");
});

test("earlier months are counted back from the month in Seoul", () => {
  const now = new Date("2025-12-31T15:00:00Z");
  expect([0, 1, 2, 13].map((months) => monthsAgoInSeoul(now, months))).toEqual([
    ...["2026-01", "2025-12", "2025-11", "2024-12"],
  ]);
});
