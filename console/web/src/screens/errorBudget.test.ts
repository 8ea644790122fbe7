import { type Monitoring } from "../api/live";
import { errorBudgetOf } from "./errorBudget";

const of = (errorRatio: number) => errorBudgetOf({ state: "connected", alerts: [], errorRatio });

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

test.each<[Monitoring | undefined, string]>([
  [{ state: "connected", alerts: [], errorRatio: null }, "no requests yet"],
  [{ state: "away", url: "http://127.0.0.1:9090", problem: "ECONNREFUSED" }, "Prometheus does not answer"],
  [{ state: "not_connected" }, "Prometheus is not connected"],
  [undefined, "Prometheus is not connected"],
])("with %j the budget is unknown", (monitoring, more) => {
  expect(errorBudgetOf(monitoring)).toEqual({ number: "unknown", more, tone: undefined });
});
