import { setTimeout as sleep } from "node:timers/promises";
import pino from "pino";
import { createPause } from "../pause";
import { startJobs } from "./jobs";
import { testRegistry } from "../testing";

const log = pino({ level: "silent" });

test("a failed job is retried at its next turn", async () => {
  let rounds = 0;
  const again = newEvent();
  const run = async () => {
    rounds += 1;
    if (rounds === 1) throw new Error("first round");
    again.happen();
  };
  const jobs = startJobs([{ name: "flaky", everyMs: 1, run }], { log, registry: testRegistry() });
  await again.happened;
  await jobs.close();
  expect(rounds).toBeGreaterThanOrEqual(2);
});

test("an hourly job is retried a minute after a failure, and rests an hour after a success", async () => {
  jest.useFakeTimers();
  const run = jest.fn(() => Promise.resolve()).mockRejectedValueOnce(new Error("first round"));
  const jobs = startJobs([{ name: "hourly", everyMs: 3_600_000, run }], { log, registry: testRegistry() });
  try {
    await jest.advanceTimersByTimeAsync(60_000);
    expect(run).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(3_599_000);
    expect(run).toHaveBeenCalledTimes(2);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(run).toHaveBeenCalledTimes(3);
  } finally {
    jest.useRealTimers();
    await jobs.close();
  }
});

test("close waits for the running round and starts no other", async () => {
  const [begun, held] = [newEvent(), newEvent()];
  let [running, finished] = [0, 0];
  const run = async () => {
    running += 1;
    begun.happen();
    await held.happened;
    finished += 1;
  };
  const jobs = startJobs([{ name: "slow", everyMs: 1, run }], { log, registry: testRegistry() });
  await begun.happened;
  let isClosed = false;
  const closed = jobs.close().then(() => (isClosed = true));
  await sleep(5);
  expect([isClosed, running, finished]).toEqual([false, 1, 0]);
  held.happen();
  await closed;
  await sleep(10);
  expect([running, finished]).toEqual([1, 1]);
});

test.each([
  [
    "leaves off because it is to end has not failed",
    async (signal: AbortSignal) => signal.throwIfAborted(),
    0,
  ],
  ["fails while it is to end has failed", () => Promise.reject(new Error("of its own")), 1],
])("a round that %s", async (_what, end, failures) => {
  const [begun, held, registry] = [newEvent(), newEvent(), testRegistry()];
  const run = async (signal: AbortSignal) => {
    begun.happen();
    await held.happened;
    await end(signal);
  };
  const jobs = startJobs([{ name: "long", everyMs: 1, run }], { log, registry });
  await begun.happened;
  const closed = jobs.close();
  held.happen();
  await closed;
  expect(await registry.metrics()).toContain(`job_failures_total{job_name="long"} ${failures}\n`);
});

test("a job without work rests longer, until it is woken", async () => {
  const word = createPause();
  let [rounds, found] = [0, false];
  const run = async () => ((rounds += 1), found);
  const quiet = { everyMs: 600_000, word };
  const jobs = startJobs([{ name: "quiet", everyMs: 1, quiet, run }], { log, registry: testRegistry() });
  await sleep(30);
  expect(rounds).toBe(1);
  found = true;
  word.wake();
  await untilRounds(10);
  found = false;
  await sleep(30);
  const before = rounds;
  await sleep(30);
  expect(rounds).toBe(before);
  await jobs.close();

  async function untilRounds(count: number): Promise<void> {
    while (rounds < count) await sleep(1);
  }
});

function newEvent(): { happened: Promise<void>; happen: () => void } {
  let happen = (): void => undefined;
  const happened = new Promise<void>((resolve) => (happen = resolve));
  return { happened, happen };
}
