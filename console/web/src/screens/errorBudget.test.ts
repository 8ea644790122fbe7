import { errorBudgetOf } from "./errorBudget";

const of = (errorRatio: number | null) => errorBudgetOf({ state: "connected", alerts: [], errorRatio });

test.each([
  [0, "100 % left", "good"],
  [0.00025, "75 % left", "good"],
  [0.0009, "10 % left", "waits"],
  [0.001, "0 % left", "bad"],
  [0.02, "used up", "bad"],
])("with %d of the requests failed the budget is %s", (ratio, number, tone) => {
  expect(of(ratio)).toMatchObject({ number, tone });
});

test("the budget names the failed share and the allowed one", () => {
  expect(of(0.0004).more).toBe("0.04 % of requests failed in 30 days; 0.1 % may");
});

test("the budget is unknown without requests, and without Prometheus", () => {
  expect(of(null)).toMatchObject({ number: "unknown", more: "no requests yet" });
  for (const monitoring of [undefined, { state: "not_connected" } as const])
    expect(errorBudgetOf(monitoring)).toMatchObject({
      number: "unknown",
      more: "Prometheus is not connected",
    });
});
