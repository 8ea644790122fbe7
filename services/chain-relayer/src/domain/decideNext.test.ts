import { decideNext, type Evidence } from "./decideNext";

test.each<Evidence>([
  { kind: "refused", reason: "EnforcedPause", settled: false },
  { kind: "not_carried", reason: "batch_reverted" },
  { kind: "not_carried", reason: "not_executed" },
])(
  "what came to nothing ($kind) is tried again later each time, and within a quarter of a minute",
  (evidence) => {
    const delays = [1, 2, 3, 4, 5, 2_000].map((attempts) => {
      const next = decideNext({ state: "IN_FLIGHT", attempts, endsAt: null }, evidence);
      return next.do === "retry" ? next.delayMs : null;
    });
    expect(delays).toEqual([2_000, 4_000, 8_000, 15_000, 15_000, 15_000]);
  },
);
