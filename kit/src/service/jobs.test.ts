import pino from "pino";
import { createRegistry } from "../metrics";
import { startJobs } from "./jobs";

const log = pino({ level: "silent" });
const registry = () => createRegistry({ service: "test", version: "0", commit: "0" });

test("a job that fails is tried again at its next turn", async () => {
  let rounds = 0;
  const again = new Promise<void>((resolve) => {
    const jobs = startJobs(
      [
        {
          name: "flaky",
          everyMs: 1,
          run: async () => {
            rounds += 1;
            if (rounds === 1) throw new Error("first round");
            resolve();
            await jobs.close();
          },
        },
      ],
      { log, registry: registry() },
    );
    setTimeout(() => void jobs.close(), 1000).unref();
  });
  await again;
  expect(rounds).toBeGreaterThanOrEqual(2);
});

test("close waits for the round that is running and starts no other", async () => {
  let running = 0;
  let finished = 0;
  const jobs = startJobs(
    [
      {
        name: "slow",
        everyMs: 1,
        run: async () => {
          running += 1;
          await new Promise((resolve) => setTimeout(resolve, 20));
          finished += 1;
        },
      },
    ],
    { log, registry: registry() },
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  await jobs.close();
  expect(finished).toBe(running);
  const after = running;
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(running).toBe(after);
});
