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

test.each(["WAITING", "PLANNED", "IN_FLIGHT"] as const)(
  "a hold that is %s has failed once a final block after its end has its authorization unused, and not before",
  (state) => {
    const hold = { state, attempts: 1, endsAt: 1_000n };
    const lookedUp = { kind: "looked_up", used: false, settled: false } as const;
    const at = (blockTime: bigint, of = {}) => decideNext(hold, { ...lookedUp, blockTime, ...of }).do;
    expect([at(1_000n), at(1_001n), at(1_001n, { used: true })]).toEqual(["nothing", "fail", "nothing"]);
    expect(at(1_001n, { used: true, settled: true })).toBe("confirm");
  },
);

test("a hold with a cancelled authorization fails, and an operation without deadline does not", () => {
  const next = (endsAt: bigint | null) =>
    decideNext({ state: "IN_FLIGHT", attempts: 1, endsAt }, { kind: "cancelled" }).do;
  expect([next(1_000n), next(null)]).toEqual(["fail", "nothing"]);
});

test("certain evidence confirms, and a taken name waits ten minutes for an operator", () => {
  const next = (evidence: Evidence, state: "WAITING" | "IN_FLIGHT" = "IN_FLIGHT") =>
    decideNext({ state, attempts: 1, endsAt: null }, evidence);
  const refused = { kind: "refused", reason: "AccountBlocked" } as const;
  expect(next({ kind: "executed" })).toEqual({ do: "confirm" });
  expect(next({ ...refused, settled: true })).toEqual({ do: "confirm" });
  expect(next({ ...refused, settled: false })).toEqual({
    do: "retry",
    reason: "AccountBlocked",
    delayMs: 2_000,
  });
  expect(next({ kind: "name_taken" })).toEqual({ do: "retry", reason: "name_taken", delayMs: 600_000 });
  const notCarried = { kind: "not_carried", reason: "nonce_taken" } as const;
  expect(next(notCarried)).toEqual({ do: "retry", reason: "nonce_taken", delayMs: 2_000 });
  // A later attempt may be under way.
  expect(next(notCarried, "WAITING")).toEqual({ do: "nothing" });
});

test.each(["CONFIRMED", "FAILED", "PASSED", "BLOCKED"] as const)(
  "an operation that is %s stays as it is",
  (state) => {
    expect(decideNext({ state, attempts: 1, endsAt: 1n }, { kind: "executed" })).toEqual({ do: "nothing" });
  },
);

test("a payment without a deadline is not failed by its age", () => {
  const payment = { state: "PLANNED", attempts: 1, endsAt: null } as const;
  const lookedUp = { kind: "looked_up", blockTime: 9_999n, used: false, settled: false } as const;
  expect(decideNext(payment, lookedUp)).toEqual({ do: "nothing" });
});
