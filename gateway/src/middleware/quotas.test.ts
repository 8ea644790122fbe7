import { DomainError } from "@wonrail/kit/contract/errors";
import { testLog } from "@wonrail/kit/testing";
import { plan } from "../testing/plan";
import { createQuotas, type LeaseQuota, type QuotaLeaseRequest } from "./quotas";

const ORG = "org_1";
const done = async () => ({ data: null, replayed: false });
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

afterEach(() => jest.useRealTimers());

function start(leaseQuota: LeaseQuota) {
  const clock = { nowMs: 0 };
  const quotas = createQuotas({ leaseQuota, log: testLog(), monotonicMs: () => clock.nowMs });
  return { clock, quotas };
}

test("concurrent requests never exceed the quota", async () => {
  const { lease } = plan(100);
  const { quotas } = start(lease);
  const work = jest.fn(done);
  const outcomes = await Promise.allSettled(
    Array.from({ length: 250 }, () => quotas.count(ORG, "MONEY_OPERATIONS", work)),
  );
  expect(work).toHaveBeenCalledTimes(100);
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused).toHaveLength(150);
  expect(refused[0]).toMatchObject({
    reason: {
      code: "WAUTH_004",
      details: { quota: "MONEY_OPERATIONS", limit: 100, used: 100, resetsAt: "1970-01-01T00:00:00.000Z" },
    },
  });
  await quotas.close();
});

test("a few calls carry many requests", async () => {
  const { lease } = plan(1e6);
  const { quotas } = start(lease);
  for (let i = 0; i < 1_000; i += 1) await quotas.count(ORG, "WALLETS", done);
  expect(lease.mock.calls.length).toBeLessThan(60);
  await quotas.close();
});

test.each<[string, () => Promise<{ replayed?: boolean }>]>([
  ["a refusal", () => Promise.reject(new DomainError("TRF_001"))],
  ["an answer that nothing was done", () => Promise.reject(new DomainError("SYS_002"))],
  ["an operation that is not built", () => Promise.reject(new DomainError("SYS_004"))],
  ["a replay", async () => ({ replayed: true })],
])("%s gives its unit back", async (_, work) => {
  const { lease, lent } = plan(1);
  const { quotas } = start(lease);
  for (let i = 0; i < 3; i += 1) await quotas.count(ORG, "MONEY_OPERATIONS", work).catch(() => undefined);
  await quotas.count(ORG, "MONEY_OPERATIONS", done);
  await expect(quotas.count(ORG, "MONEY_OPERATIONS", done)).rejects.toMatchObject({ code: "WAUTH_004" });
  await quotas.close();
  expect(lent()).toBe(1);
});

test.each([new DomainError("SYS_003"), new DomainError("SYS_001"), new Error("unexpected")])(
  "an unknown outcome (%p) keeps its unit",
  async (error) => {
    const { lease } = plan(1);
    const { quotas } = start(lease);
    await expect(quotas.count(ORG, "MONEY_OPERATIONS", () => Promise.reject(error))).rejects.toBe(error);
    await expect(quotas.count(ORG, "MONEY_OPERATIONS", done)).rejects.toMatchObject({ code: "WAUTH_004" });
    await quotas.close();
  },
);

test("an exhausted quota is checked once a second, and at once after a change of the organisation", async () => {
  const { lease } = plan(1);
  const { clock, quotas } = start(lease);
  await quotas.count(ORG, "WALLETS", done);
  const refused = () =>
    expect(quotas.count(ORG, "WALLETS", done)).rejects.toMatchObject({ code: "WAUTH_004" });
  for (let i = 0; i < 10; i += 1) await refused();
  expect(lease).toHaveBeenCalledTimes(2);
  clock.nowMs = 1_000;
  await refused();
  expect(lease).toHaveBeenCalledTimes(3);
  quotas.reconsider(ORG);
  await refused();
  expect(lease).toHaveBeenCalledTimes(4);
  await quotas.close();
});

test("unused units of an expired lease are reported first and leased again", async () => {
  const { lease, lent } = plan(10);
  const { clock, quotas } = start(lease);
  await Promise.all(Array.from({ length: 4 }, () => quotas.count(ORG, "WALLETS", done)));
  clock.nowMs = 10_000;
  await Promise.all(Array.from({ length: 6 }, () => quotas.count(ORG, "WALLETS", done)));
  await quotas.close();
  expect(lent()).toBe(10);
});

test("a lease's lifetime starts when it is requested", async () => {
  const { lease } = plan(10);
  const { clock, quotas } = start(async (request) => {
    clock.nowMs += 400;
    return lease({ ...request, wanted: 5 });
  });
  for (const [atMs, calls] of [
    [0, 1],
    [9_999, 1],
    [10_000, 2],
  ] as const) {
    clock.nowMs = atMs;
    await quotas.count(ORG, "WALLETS", done);
    expect(lease).toHaveBeenCalledTimes(calls);
  }
  await quotas.close();
});

test("closing reports exact use, also when an earlier report was lost", async () => {
  const { lease, lent } = plan(1_000);
  const { quotas } = start(lease);
  await Promise.all(Array.from({ length: 37 }, () => quotas.count(ORG, "WALLETS", done)));
  lease.mockRejectedValueOnce(new DomainError("SYS_003"));
  quotas.recall(ORG, "WALLETS");
  await settle();
  expect(lent()).toBeGreaterThan(37);
  await quotas.close();
  expect(lent()).toBe(37);
});

test("a recall returns unused units at once", async () => {
  const { lease, lent } = plan(1_000);
  const { quotas } = start(lease);
  await Promise.all(Array.from({ length: 37 }, () => quotas.count(ORG, "WALLETS", done)));
  quotas.recall(ORG, "WALLETS");
  await settle();
  expect(lent()).toBe(37);
  await quotas.close();
});

test("a recalled lease is reported when its running requests have ended", async () => {
  const { lease, lent } = plan(10);
  const { quotas } = start(lease);
  let refuse: (error: DomainError) => void = () => undefined;
  const refused = quotas.count(ORG, "WALLETS", () => new Promise<never>((_, reject) => (refuse = reject)));
  await settle();
  quotas.recall(ORG, "WALLETS");
  await settle();
  refuse(new DomainError("WAL_001"));
  await expect(refused).rejects.toMatchObject({ code: "WAL_001" });
  await quotas.close();
  expect(lent()).toBe(0);
});

test("a request waits for units that other gateways may return", async () => {
  let others = 3;
  const { quotas } = start(async ({ wanted }) => {
    others -= 1;
    const granted = others > 0 ? 0 : wanted;
    return {
      granted,
      validForMs: 10_000,
      limit: 5,
      used: 5,
      recallable: others,
      retryAfterMs: 5,
      resetsAt: undefined,
    };
  });
  await expect(quotas.count(ORG, "WALLETS", done)).resolves.toMatchObject({ data: null });
  await quotas.close();
});

test("a lease of 0 that may still be granted is returned", async () => {
  const { lease } = plan(0);
  const { quotas } = start(async (request) => ({ ...(await lease(request)), mayBeLent: true }));
  await expect(quotas.count(ORG, "WALLETS", done)).rejects.toMatchObject({ code: "WAUTH_004" });
  await quotas.close();
  const [{ leaseId }, { accounts }] = lease.mock.calls.map(([request]) => request) as [
    QuotaLeaseRequest,
    QuotaLeaseRequest,
  ];
  expect(accounts).toEqual([{ leaseId, spent: 0 }]);
});

test("a lease whose answer was lost is given back", async () => {
  const accounts: string[] = [];
  let lost = true;
  const { quotas } = start(async (request) => {
    accounts.push(...request.accounts.map(({ leaseId, spent }) => `${leaseId}:${spent}`));
    if (lost) {
      lost = false;
      accounts.push(`lost ${request.leaseId}`);
      throw new DomainError("SYS_003");
    }
    return {
      granted: request.wanted,
      validForMs: 10_000,
      limit: 5,
      used: 0,
      recallable: 0,
      retryAfterMs: 0,
      resetsAt: undefined,
    };
  });
  await expect(quotas.count(ORG, "WALLETS", done)).rejects.toMatchObject({ code: "SYS_002" });
  await quotas.count(ORG, "WALLETS", done);
  const [first, second] = accounts;
  expect(second).toBe(`${first!.slice("lost ".length)}:0`);
  await quotas.close();
});

describe("while auth is away", () => {
  /** A request each millisecond. */
  async function fiveThousandRequests(code: "SYS_002" | "SYS_003") {
    const { lease, lent } = plan(100);
    const lend = lease.getMockImplementation()!;
    lease.mockRejectedValue(new DomainError(code));
    const { clock, quotas } = start(lease);
    for (clock.nowMs = 1; clock.nowMs <= 5_000; clock.nowMs += 1) {
      await expect(quotas.count(ORG, "WALLETS", done)).rejects.toMatchObject({ code: "SYS_002" });
    }
    const failures = lease.mock.calls.length;
    lease.mockImplementation(lend);
    clock.nowMs += 250;
    await quotas.count(ORG, "WALLETS", done);
    await quotas.close();
    const accounts = lease.mock.calls.slice(failures).flatMap(([request]) => request.accounts);
    return { failures, accounts, lent: lent() };
  }

  test("five thousand refused requests leave no leases, and auth is asked four times a second", async () => {
    const { failures, accounts, lent } = await fiveThousandRequests("SYS_002");
    expect(failures).toBeLessThanOrEqual(22);
    expect(accounts).toHaveLength(1);
    expect(lent).toBe(1);
  });

  test("leases that auth may have granted are reported once each", async () => {
    const { failures, accounts, lent } = await fiveThousandRequests("SYS_003");
    expect(failures).toBeLessThanOrEqual(22);
    expect(new Set(accounts.map(({ leaseId }) => leaseId)).size).toBe(accounts.length);
    expect(accounts).toHaveLength(failures + 1);
    expect(lent).toBe(1);
  });

  test("at most a thousand leases are remembered during an outage", async () => {
    const { lease } = plan(100);
    const lend = lease.getMockImplementation()!;
    lease.mockRejectedValue(new DomainError("SYS_003"));
    const { clock, quotas } = start(lease);
    for (let i = 0; i < 1_500; i += 1) {
      clock.nowMs += 250;
      await quotas.count(ORG, "WALLETS", done).catch(() => undefined);
    }
    lease.mockClear().mockImplementation(lend);
    for (let i = 0; i < 20; i += 1) {
      quotas.recall(ORG, "WALLETS");
      await settle();
    }
    expect(lease.mock.calls.flatMap(([{ accounts }]) => accounts)).toHaveLength(1_000);
    await quotas.close();
  });
});

/** A lease call that grants every request. The test answers each of `calls` itself. */
function startSlow() {
  // Fake timers keep the periodic sweep away.
  jest.useFakeTimers({ doNotFake: ["setImmediate"] });
  const calls: { wanted: number; answer: () => Promise<void>; fail: () => Promise<void> }[] = [];
  const lease: LeaseQuota = ({ wanted }) =>
    new Promise((resolve, reject) => {
      const lent = {
        granted: wanted,
        validForMs: 10_000,
        limit: 1e6,
        used: 0,
        recallable: 0,
        retryAfterMs: 0,
      };
      calls.push({
        wanted,
        answer: () => (resolve({ ...lent, resetsAt: undefined }), settle()),
        fail: () => (reject(new DomainError("SYS_003")), settle()),
      });
    });
  const { quotas } = start(lease);
  const outcomes: string[] = [];
  const come = async (count: number) => {
    for (let i = 0; i < count; i += 1) {
      void quotas.count(ORG, "WALLETS", done).then(
        () => outcomes.push("done"),
        (error: DomainError) => outcomes.push(error.code),
      );
    }
    await settle();
  };
  return { calls, come, outcomes, quotas };
}

test("the next lease is requested when half of the current one is used, so that requests do not wait", async () => {
  const { calls, come, outcomes } = startSlow();
  await come(20);
  expect(calls.map(({ wanted }) => wanted)).toEqual([1]);
  await calls[0]!.answer();
  await calls[1]!.answer();
  expect(outcomes).toHaveLength(20);
  // The second lease went to waiting requests. The third was requested ahead.
  expect(calls).toHaveLength(3);
  await calls[2]!.answer();
  const left = calls[1]!.wanted - 19;
  const half = Math.ceil(calls[2]!.wanted / 2);
  await come(left + half - 1);
  expect(calls).toHaveLength(3);
  await come(1);
  expect(calls).toHaveLength(4);
  await come(calls[2]!.wanted - half);
  expect(outcomes).toEqual(Array.from({ length: 20 + left + calls[2]!.wanted }, () => "done"));
});

test("a request that joins a failing call is retried once", async () => {
  const { calls, come, outcomes } = startSlow();
  await come(1);
  await come(1);
  await calls[0]!.fail();
  expect(outcomes).toEqual(["SYS_002"]);
  await calls[1]!.answer();
  expect(outcomes).toEqual(["SYS_002", "done"]);
});

test("rare requests lease nothing ahead", async () => {
  const { calls, come } = startSlow();
  await come(1);
  await calls[0]!.answer();
  await come(1);
  await calls[1]!.answer();
  expect(calls).toHaveLength(2);
});

test("a lease that arrives while the last one is being reported is used", async () => {
  const { calls, come, outcomes } = startSlow();
  await come(1);
  await calls[0]!.answer();
  jest.advanceTimersByTime(1_000);
  expect(calls[1]).toMatchObject({ wanted: 0 });
  await come(1);
  expect(calls[2]).toMatchObject({ wanted: 3 });
  await calls[2]!.answer();
  await calls[1]!.answer();
  await come(2);
  expect(outcomes).toHaveLength(4);
  expect(calls).toHaveLength(3);
});

test("a lease that arrives while the gateway stops is returned", async () => {
  const { lease, lent } = plan(10_000);
  let answered = Promise.resolve();
  const { quotas } = start(async (request) => {
    const lent = await lease(request);
    await answered;
    return lent;
  });
  let units = 0;
  const use = async () => (await quotas.count(ORG, "WALLETS", done), (units += 1));
  while (units < 100) await use();
  let answer = () => {};
  answered = new Promise((resolve) => (answer = resolve));
  const calls = lease.mock.calls.length;
  while (lease.mock.calls.length === calls) await use();
  const closed = quotas.close();
  answer();
  await closed;
  expect(lent()).toBe(units);
});

test("stopping returns all leases whose answers were lost", async () => {
  const given = new Set<string>();
  const { clock, quotas } = start(async ({ wanted, accounts }) => {
    if (wanted > 0) throw new DomainError("SYS_003");
    for (const { leaseId } of accounts) given.add(leaseId);
    const counts = { limit: 0, used: 0, recallable: 0, retryAfterMs: 0 };
    return { granted: 0, validForMs: 0, ...counts, resetsAt: undefined };
  });
  for (let lost = 0; lost < 250; lost += 1, clock.nowMs += 1_000) {
    await expect(quotas.count(ORG, "WALLETS", done)).rejects.toMatchObject({ code: "SYS_002" });
  }
  await quotas.close();
  expect(given.size).toBe(250);
});

test.each([
  ["others hold the last units and do not give them back", { granted: 0, recallable: 3 }],
  ["each lease goes to requests that came before", { granted: 1, recallable: 0 }],
])("an almost exhausted quota answers WAUTH_004 with its figures when %s", async (_, answer) => {
  const { quotas } = start(async () => ({
    ...{ validForMs: 10_000, limit: 5, used: 5, retryAfterMs: 0, resetsAt: new Date(0), ...answer },
  }));
  const hold = () => new Promise<{ replayed?: boolean }>(() => undefined);
  const waiting = Array.from({ length: 100 }, () => quotas.count(ORG, "WALLETS", hold));
  const details = { quota: "WALLETS", limit: 5, used: 5, resetsAt: new Date(0).toISOString() };
  await expect(Promise.race(waiting)).rejects.toMatchObject({ code: "WAUTH_004", details });
  for (const each of waiting) each.catch(() => undefined);
});
