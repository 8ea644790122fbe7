import { Registry } from "@wonrail/kit/metrics";
import { eventually, testLog } from "@wonrail/kit/testing";
import { type Change, watchChanges } from "./watchChanges";

function start(open: (signal: AbortSignal) => AsyncIterable<Change>) {
  const seen: Change["kind"][] = [];
  const watch = watchChanges({
    open,
    onChange: ({ kind }) => seen.push(kind),
    log: testLog(),
    registry: new Registry(),
  });
  return { seen, watch };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

test("a stream that ends or fails is reopened", async () => {
  let opened = 0;
  const { seen, watch } = start(async function* (signal) {
    opened += 1;
    yield { kind: "started", heartbeatMs: 1_000 };
    if (opened === 1) throw new Error("connection lost");
    if (opened === 2) return;
    await aborted(signal);
  });
  await eventually(async () => expect(opened).toBe(3));
  expect(seen).toEqual(["started", "started", "started"]);
  await watch.close();
});

test("a stream that falls silent is given up after three missed heartbeats", async () => {
  let opened = 0;
  const { watch } = start(async function* (signal) {
    opened += 1;
    yield { kind: "started", heartbeatMs: 20 };
    await aborted(signal);
  });
  await eventually(async () => expect(opened).toBeGreaterThanOrEqual(2));
  await watch.close();
});

test("a stream with regular heartbeats is kept", async () => {
  jest.useFakeTimers();
  const signals: AbortSignal[] = [];
  const { watch } = start(async function* (signal) {
    signals.push(signal);
    yield { kind: "started", heartbeatMs: 1_000 };
    while (!signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      yield { kind: "heartbeat" };
    }
  });
  await jest.advanceTimersByTimeAsync(10_000);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  const closed = watch.close();
  await jest.advanceTimersByTimeAsync(1_000);
  await closed;
  jest.useRealTimers();
});

test("closing ends the stream without reopening it", async () => {
  const ended = jest.fn();
  const { watch } = start(async function* (signal) {
    yield { kind: "started", heartbeatMs: 1_000 };
    await aborted(signal);
    ended();
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await watch.close();
  expect(ended).toHaveBeenCalledTimes(1);
});
