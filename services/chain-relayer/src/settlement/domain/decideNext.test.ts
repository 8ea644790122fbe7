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
