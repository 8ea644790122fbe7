import { createPause } from "./pause";

const LONG_MS = 60_000;

describe("pause", () => {
  it("a wake ends a sleep, also when it came before the sleep", async () => {
    const rest = createPause();
    const sleeping = rest.sleep(LONG_MS);
    rest.wake();
    await sleeping;
    rest.wake();
    await rest.sleep(LONG_MS);
  });

  it("a wake is used once", async () => {
    const rest = createPause();
    rest.wake();
    await rest.sleep(LONG_MS);
    const startMs = performance.now();
    await rest.sleep(20);
    expect(performance.now() - startMs).toBeGreaterThan(15);
  });

  it("a wake does not end a back-off", async () => {
    const rest = createPause();
    let over = false;
    const backingOff = rest.sleepUnwoken(20).then(() => (over = true));
    rest.wake();
    await Promise.resolve();
    expect(over).toBe(false);
    await backingOff;
  });

  it("closing ends every sleep and prevents later ones", async () => {
    const rest = createPause();
    const sleeping = [rest.sleep(LONG_MS), rest.sleepUnwoken(LONG_MS), rest.sleepUnwoken(LONG_MS)];
    rest.close();
    await Promise.all(sleeping);
    await rest.sleep(LONG_MS);
    await rest.sleepUnwoken(LONG_MS);
    expect(rest.closed).toBe(true);
  });
});
