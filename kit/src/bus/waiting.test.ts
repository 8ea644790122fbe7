import { createLog } from "../log";
import { retryUntilReady, withTimeout } from "./waiting";

describe("withTimeout", () => {
  it("returns the work's result or error", async () => {
    await expect(withTimeout(1_000, "it did not come", Promise.resolve(7))).resolves.toBe(7);
    await expect(withTimeout(1_000, "it did not come", Promise.reject(new Error("broken")))).rejects.toThrow(
      "broken",
    );
  });

  it("names the event that did not happen in time", async () => {
    const never = new Promise(() => undefined);
    await expect(withTimeout(10, "Kafka did not answer", never)).rejects.toThrow(
      "Kafka did not answer within 10 ms",
    );
  });
});

describe("retryUntilReady", () => {
  const patience = { log: createLog({ service: "test", level: "silent" }), isTransient: () => true };

  it("retries after a temporary error", async () => {
    let tries = 0;
    const attempt = async (): Promise<string> => {
      tries += 1;
      if (tries < 2) throw new Error("not yet");
      return "there";
    };
    const { signal } = new AbortController();
    await expect(retryUntilReady("read", attempt, { ...patience, signal })).resolves.toBe("there");
  });

  it("gives up at once on a permanent error and on abort", async () => {
    const attempt = jest.fn(() => Promise.reject(new Error("no such thing")));
    const stop = new AbortController();
    const hopeless = { ...patience, signal: stop.signal, isTransient: () => false };
    await expect(retryUntilReady("read", attempt, hopeless)).rejects.toThrow("no such thing");
    const waiting = retryUntilReady("read", attempt, { ...patience, signal: stop.signal });
    stop.abort();
    await expect(waiting).rejects.toThrow();
    expect(attempt).toHaveBeenCalledTimes(2);
  });

  it("leaves a hanging attempt on abort", async () => {
    const stop = new AbortController();
    const hanging = retryUntilReady("read", () => new Promise(() => undefined), {
      ...patience,
      signal: stop.signal,
    });
    stop.abort();
    await expect(hanging).rejects.toThrow("aborted");
  });
});
