import { watchLiveness } from "./liveness";

describe("watchLiveness", () => {
  const minute = 60_000;
  const start = (stillAfterMs: number) => {
    const clock = { ms: 0 };
    return { clock, liveness: watchLiveness(stillAfterMs, () => clock.ms) };
  };

  it("is live while messages move, and not after a long stillness", () => {
    const { clock, liveness } = start(20_000);
    clock.ms = 20_000;
    expect(liveness.live()).toBe(true);
    liveness.recordProgress();
    clock.ms = 40_000;
    expect(liveness.live()).toBe(true);
    clock.ms = 40_001;
    expect(liveness.live()).toBe(false);
    liveness.recordProgress();
    expect(liveness.live()).toBe(true);
  });

  it("counts a long handler as progress, but not one that never ends", async () => {
    const { clock, liveness } = start(20_000);
    let finish = (): void => undefined;
    const handled = liveness.during(() => new Promise<void>((resolve) => (finish = resolve)));
    clock.ms = 5 * minute;
    expect(liveness.live()).toBe(true);
    clock.ms = 5 * minute + 1;
    expect(liveness.live()).toBe(false);
    finish();
    await handled;
    expect(liveness.live()).toBe(true);
  });

  it("counts a failed handler as progress, and rethrows its error", async () => {
    const { clock, liveness } = start(20_000);
    clock.ms = 30_000;
    await expect(liveness.during(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(liveness.live()).toBe(true);
  });

  it.each([
    ["back", -60 * minute],
    ["on", 60 * minute],
  ])("ignores a clock that is set an hour %s", (_, setMs) => {
    jest.useFakeTimers();
    try {
      const liveness = watchLiveness(20_000);
      jest.setSystemTime(Date.now() + setMs);
      jest.advanceTimersByTime(20_000);
      expect(liveness.live()).toBe(true);
      jest.advanceTimersByTime(1);
      expect(liveness.live()).toBe(false);
    } finally {
      jest.useRealTimers();
    }
  });

  it("is not live after its stop, whatever moves", () => {
    const { liveness } = start(20_000);
    liveness.stop();
    liveness.recordProgress();
    expect(liveness.live()).toBe(false);
  });
});
