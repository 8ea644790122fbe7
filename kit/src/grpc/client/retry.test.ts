import { delayBefore, RetryBudget, withRetry } from "./retry";

const options = (more = {}) => ({
  deadlineMs: Date.now() + 60_000,
  budget: new RetryBudget(),
  isWorthRetrying: () => true,
  reconnected: () => Promise.resolve(false),
  random: () => 0,
  ...more,
});

function failing(times: number) {
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    if (attempts <= times) throw new Error(`failure ${attempts}`);
    return attempts;
  };
  return { attempt, attempts: () => attempts };
}

test("pauses double up to a cap, with jitter down to half", () => {
  expect([1, 2, 3, 4, 5, 6, 7].map((attempts) => delayBefore(attempts, () => 1))).toEqual([
    50, 100, 200, 400, 800, 1000, 1000,
  ]);
  expect([1, 2, 10].map((attempts) => delayBefore(attempts, () => 0))).toEqual([25, 50, 500]);
});

test("retries until an attempt succeeds", async () => {
  await expect(withRetry(failing(2).attempt, options())).resolves.toBe(3);
});

test("gives up after the fourth attempt, with its error", async () => {
  const { attempt, attempts } = failing(100);
  await expect(withRetry(attempt, options())).rejects.toThrow("failure 4");
  expect(attempts()).toBe(4);
});

test("does not retry a permanent error, nor beyond the deadline", async () => {
  const refused = failing(1);
  await expect(withRetry(refused.attempt, options({ isWorthRetrying: () => false }))).rejects.toThrow(
    "failure 1",
  );
  const late = failing(1);
  await expect(withRetry(late.attempt, options({ deadlineMs: Date.now() + 20 }))).rejects.toThrow(
    "failure 1",
  );
  expect(refused.attempts() + late.attempts()).toBe(2);
});

test("a retry after a reconnect costs no budget", async () => {
  const budget = new RetryBudget();
  while (budget.spend());
  await expect(withRetry(failing(1).attempt, options({ budget }))).rejects.toThrow("failure 1");
  const reconnected = () => Promise.resolve(true);
  await expect(withRetry(failing(1).attempt, options({ budget, reconnected }))).resolves.toBe(2);
});

test("each call adds its share of a retry to the budget, also one that needs none", async () => {
  const budget = new RetryBudget();
  while (budget.spend());
  for (let call = 0; call < 11; call += 1) await withRetry(() => Promise.resolve(), options({ budget }));
  expect([budget.spend(), budget.spend()]).toEqual([true, false]);
});

test("retries are limited to a tenth of the calls after the first few", () => {
  const budget = new RetryBudget();
  let retries = 0;
  for (let call = 0; call < 1000; call += 1) {
    budget.earn();
    if (budget.spend()) retries += 1;
  }
  expect(retries).toBeGreaterThanOrEqual(100);
  expect(retries).toBeLessThanOrEqual(121);
});
