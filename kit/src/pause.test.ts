import { pause } from "./pause";

const LONG_MS = 60_000;

describe("pause", () => {
  it("ends a sleep when it is woken, also when the wake came before it", async () => {
    const rest = pause();
    const sleeping = rest.sleep(LONG_MS);
    rest.wake();
    await sleeping;
    rest.wake();
    await rest.sleep(LONG_MS);
  });

  it("forgets a wake once somebody slept through it", async () => {
    const rest = pause();
    rest.wake();
    await rest.sleep(LONG_MS);
    const startMs = performance.now();
    await rest.sleep(20);
    expect(performance.now() - startMs).toBeGreaterThan(15);
  });

  it("does not end a back-off when it is woken", async () => {
    const rest = pause();
    let over = false;
    const backingOff = rest.sleepUnwoken(20).then(() => (over = true));
    rest.wake();
    await Promise.resolve();
    expect(over).toBe(false);
    await backingOff;
  });

  it("ends every sleep when it is closed, and lets nobody sleep afterwards", async () => {
    const rest = pause();
    const sleeping = [rest.sleep(LONG_MS), rest.sleepUnwoken(LONG_MS), rest.sleepUnwoken(LONG_MS)];
    rest.close();
    await Promise.all(sleeping);
    await rest.sleep(LONG_MS);
    await rest.sleepUnwoken(LONG_MS);
    expect(rest.closed).toBe(true);
  });
});
