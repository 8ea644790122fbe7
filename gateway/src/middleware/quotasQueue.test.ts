import { testLog } from "@wonrail/kit/testing";
import { createQuotas } from "./quotas";

test("at most a thousand requests wait for one quota, and another quota has its own queue", async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const leaseQuota = async ({ wanted: granted }: { wanted: number }) => {
    await answered;
    return {
      ...{ granted, validForMs: 10_000, limit: 5_000, used: 0 },
      ...{ recallable: 0, retryAfterMs: 0, resetsAt: undefined },
    };
  };
  const quotas = createQuotas({ leaseQuota, log: testLog(), monotonicMs: () => 0 });
  const come = (quota: "WALLETS" | "MONEY_OPERATIONS") => quotas.count("org_1", quota, async () => ({}));
  const waiting = Array.from({ length: 1_000 }, () => come("WALLETS"));
  let refused = 0;
  for (const one of waiting) one.catch(() => (refused += 1));
  await expect(come("WALLETS")).rejects.toMatchObject({ code: "SYS_002", details: { retryAfterMs: 1_000 } });
  expect(refused).toBe(0);
  waiting.push(come("MONEY_OPERATIONS"));
  answer();
  // Each waiting request has a limited number of rounds, so not all of a thousand get a unit.
  await Promise.allSettled(waiting);
  await come("WALLETS");
  await quotas.close();
});
