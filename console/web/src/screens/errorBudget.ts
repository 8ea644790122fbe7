import { type Monitoring } from "../api/live";

/** The service level allows this ratio of failed requests in thirty days. */
const ALLOWED_RATIO = 0.001;

export interface ErrorBudget {
  number: string;
  more: string;
  tone: "good" | "waits" | "bad" | undefined;
}

/** How much of the month's error budget is left. */
export function errorBudgetOf(monitoring: Monitoring | undefined): ErrorBudget {
  if (monitoring?.state !== "connected") {
    const problem = monitoring?.state === "away" ? "does not answer" : "is not connected";
    return { number: "unknown", more: `Prometheus ${problem}`, tone: undefined };
  }
  const ratio = monitoring.errorRatio;
  if (ratio === null) return { number: "unknown", more: "no requests yet", tone: undefined };
  const left = 1 - ratio / ALLOWED_RATIO;
  return {
    number: left < 0 ? "used up" : `${percent(left)} left`,
    more: `${percent(ratio)} of requests failed in 30 days; 0.1 % may`,
    tone: left <= 0 ? "bad" : left < 0.25 ? "waits" : "good",
  };
}

/** Two decimals: 0.00025 is "0.03 %". */
function percent(ratio: number): string {
  return `${Number((ratio * 100).toFixed(2))} %`;
}
