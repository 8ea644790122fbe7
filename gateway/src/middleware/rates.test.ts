import { DomainError } from "@wonrail/kit/contract/errors";
import { Registry } from "@wonrail/kit/metrics";
import { type Principal } from "./principal";
import { createRates, type LeaseRate } from "./rates";

const principal: Principal = {
  orgId: "org_1",
  orgCode: "ACME",
  keyId: "key_1",
  isTestKey: true,
  keyUsableUntil: new Date(1e12),
  subscriptionEndsAt: new Date(1e12),
  ratePerSecond: 100,
  rateBurst: 200,
  scopes: new Set<string>(),
  allowedAddresses: [],
  apiVersion: "2026-01-01",
};

/** auth's bucket with its real rules. */
function bucket(
  clock: { nowMs: number },
  perSecond = principal.ratePerSecond,
  burst = principal.rateBurst,
): LeaseRate {
  let tokens = burst;
  let atMs = clock.nowMs;
  return async (_orgId, wanted) => {
    tokens = Math.min(burst, tokens + ((clock.nowMs - atMs) * perSecond) / 1000);
    atMs = clock.nowMs;
    const granted = Math.min(wanted, wanted <= tokens ? wanted : Math.ceil(Math.floor(tokens) / 2));
    tokens -= granted;
    const retryAfterMs = tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 1000) / perSecond);
    return {
      granted,
      validForMs: 1_000,
      ratePerSecond: perSecond,
      rateBurst: burst,
      remaining: Math.floor(tokens),
      retryAfterMs,
    };
  };
}

function start(leaseRate?: LeaseRate) {
  const clock = { nowMs: 0 };
  const lease = jest.fn(leaseRate ?? bucket(clock));
  const rates = createRates({ leaseRate: lease, registry: new Registry(), monotonicMs: () => clock.nowMs });
  const take = async () => rates.take(principal);
  return { clock, lease, rates, take };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("requests at a steady rate rarely wait for a call", async () => {
  const { clock, lease, rates } = start();
  let waits = 0;
  for (clock.nowMs = 0; clock.nowMs < 20_000; clock.nowMs += 20) {
    const waiting = rates.take(principal);
    if (waiting) waits += 1;
    await waiting;
    await settle();
  }
  // 1,000 requests; the first leases are small until the rate is known.
  expect(waits).toBeLessThan(60);
  expect(lease.mock.calls.length).toBeLessThan(150);
});

test("concurrent requests never exceed the bucket", async () => {
  const { clock, take } = start();
  let passed = 0;
  for (clock.nowMs = 0; clock.nowMs < 5_000; clock.nowMs += 10) {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, take));
    passed += outcomes.filter(({ status }) => status === "fulfilled").length;
  }
  expect(passed).toBeLessThanOrEqual(200 + 5 * 100);
  expect(passed).toBeGreaterThan(200 + 5 * 100 * 0.8);
});

test("two gateways share one limit", async () => {
  const clock = { nowMs: 0 };
  const shared = bucket(clock);
  const replicas = [0, 1].map(() =>
    createRates({ leaseRate: shared, registry: new Registry(), monotonicMs: () => clock.nowMs }),
  );
  let passed = 0;
  for (; clock.nowMs < 5_000; clock.nowMs += 10) {
    for (const rates of replicas) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, async () => rates.take(principal)),
      );
      passed += outcomes.filter(({ status }) => status === "fulfilled").length;
    }
  }
  expect(passed).toBeLessThanOrEqual(200 + 5 * 100);
});

test("a refusal carries retryAfterMs, and causes no further call until then", async () => {
  const { lease, take } = start(async () => ({
    granted: 0,
    validForMs: 1_000,
    ratePerSecond: 100,
    rateBurst: 200,
    remaining: 0,
    retryAfterMs: 700,
  }));
  for (let i = 0; i < 10; i += 1)
    await expect(take()).rejects.toMatchObject({ code: "RATE_001", details: { retryAfterMs: 700 } });
  expect(lease).toHaveBeenCalledTimes(1);
});

test("a request is refused at once while a thousand others wait for a lease", async () => {
  const { take } = start(() => new Promise(() => undefined));
  for (let waiting = 0; waiting < 1_000; waiting += 1) void take();
  await expect(take()).rejects.toMatchObject({ code: "RATE_001", details: { retryAfterMs: 1_000 } });
});

test("unused units of an expired lease are void", async () => {
  const { clock, lease, take } = start();
  await Promise.all(Array.from({ length: 10 }, take));
  const calls = lease.mock.calls.length;
  clock.nowMs = 1_000;
  await take();
  expect(lease.mock.calls.length).toBeGreaterThan(calls);
});

test("a lease's lifetime starts when it is requested", async () => {
  const { clock, lease, take } = start();
  lease.mockImplementation(async () => {
    clock.nowMs += 400;
    const rule = { ratePerSecond: 100, rateBurst: 200 };
    return { granted: 10, validForMs: 1_000, ...rule, remaining: 0, retryAfterMs: 0 };
  });
  await take();
  clock.nowMs = 999;
  await take();
  expect(lease).toHaveBeenCalledTimes(1);
  clock.nowMs = 1_000;
  await take();
  expect(lease).toHaveBeenCalledTimes(2);
});

test("while auth is away each gateway grants the organisation's full rate by itself", async () => {
  const { clock, take } = start(async () => {
    throw new DomainError("SYS_002");
  });
  let passed = 0;
  for (clock.nowMs = 0; clock.nowMs < 5_000; clock.nowMs += 10) {
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, take));
    passed += outcomes.filter(({ status }) => status === "fulfilled").length;
  }
  expect(passed).toBeGreaterThan(600);
  expect(passed).toBeLessThanOrEqual(200 + 5 * 100);
});

test("a gateway without auth saves up at most one burst", async () => {
  const { clock, take } = start(async () => {
    throw new DomainError("SYS_002");
  });
  await take();
  clock.nowMs = 60_000;
  const outcomes = await Promise.allSettled(Array.from({ length: 400 }, take));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(200);
});

test("auth's rate applies again from its first answer after a failure", async () => {
  const { clock, lease, take } = start();
  lease.mockRejectedValueOnce(new DomainError("SYS_002"));
  await take();
  const nothing = { granted: 0, validForMs: 1_000, remaining: 0, retryAfterMs: 700 };
  lease.mockResolvedValue({ ...nothing, ratePerSecond: 100, rateBurst: 200 });
  clock.nowMs = 250;
  await expect(take()).rejects.toMatchObject({ code: "RATE_001" });
});

test("the headers carry the remaining rate", async () => {
  const { rates, take } = start();
  await take();
  expect(rates.state(principal, false)).toEqual({ limit: 200, remaining: 199, resetSeconds: 1 });
  // A refused request sees nothing remaining, whatever was refilled since.
  expect(rates.state(principal, true)).toEqual({ limit: 200, remaining: 0, resetSeconds: 2 });
});
