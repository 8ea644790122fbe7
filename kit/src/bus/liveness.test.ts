import { watchMovement } from "./liveness";

describe("watchMovement", () => {
  const minute = 60_000;
  const start = (stillAfterMs: number) => {
    const clock = { ms: 0 };
    return { clock, movement: watchMovement(stillAfterMs, () => clock.ms) };
  };

  it("is live while messages move, and not after a long stillness", () => {
    const { clock, movement } = start(20_000);
    clock.ms = 20_000;
    expect(movement.live()).toBe(true);
    movement.moved();
    clock.ms = 40_000;
    expect(movement.live()).toBe(true);
    clock.ms = 40_001;
    expect(movement.live()).toBe(false);
    movement.moved();
    expect(movement.live()).toBe(true);
  });

  it("counts a long handler as movement, but not one that never ends", async () => {
    const { clock, movement } = start(20_000);
    let finish = (): void => undefined;
    const handled = movement.during(() => new Promise<void>((resolve) => (finish = resolve)));
    clock.ms = 5 * minute;
    expect(movement.live()).toBe(true);
    clock.ms = 5 * minute + 1;
    expect(movement.live()).toBe(false);
    finish();
    await handled;
    expect(movement.live()).toBe(true);
  });

  it("counts a failed handler as movement, and rethrows its error", async () => {
    const { clock, movement } = start(20_000);
    clock.ms = 30_000;
    await expect(movement.during(() => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(movement.live()).toBe(true);
  });

  it.each([
    ["back", -60 * minute],
    ["on", 60 * minute],
  ])("ignores a clock that is set an hour %s", (_, setMs) => {
    jest.useFakeTimers();
    try {
      const movement = watchMovement(20_000);
      jest.setSystemTime(Date.now() + setMs);
      jest.advanceTimersByTime(20_000);
      expect(movement.live()).toBe(true);
      jest.advanceTimersByTime(1);
      expect(movement.live()).toBe(false);
    } finally {
      jest.useRealTimers();
    }
  });

  it("is not live after its stop, whatever moves", () => {
    const { movement } = start(20_000);
    movement.stop();
    movement.moved();
    expect(movement.live()).toBe(false);
  });
});
