import fc from "fast-check";
import { accountForLease, expireLease, leaseSize, lend, type QuotaLease, type QuotaUsage } from "./quotas";

const usage = (spent: bigint, leased: bigint, limit = 100n): QuotaUsage => ({ limit, spent, leased });

describe("the size of a lease", () => {
  test.each([
    [usage(0n, 0n, 1_000_000n), 50, 50],
    [usage(0n, 0n, 1_000_000n), 5_000, 1_000],
    [usage(0n, 0n), 50, 10],
    [usage(50n, 30n), 50, 2],
    [usage(90n, 5n), 50, 1],
    [usage(99n, 0n), 50, 1],
    [usage(99n, 1n), 50, 0],
    [usage(100n, 0n), 50, 0],
    [usage(0n, 0n), 0, 0],
    [usage(0n, 0n), -1, 0],
  ])("is for %j free and %d wanted: %d", (before, wanted, expected) => {
    expect(leaseSize(before, before.limit, wanted)).toBe(expected);
  });

  test("is 0 after the plan was lowered below the usage, and the usage stays", () => {
    expect(leaseSize(usage(900n, 0n, 1_000n), 100n, 10)).toBe(0);
  });
});

test("a report returns the unspent units", () => {
  const after = lend(usage(0n, 0n), 100n, 10);
  expect(accountForLease(after, { state: "OPEN", granted: 10 }, 3)).toEqual(usage(3n, 0n));
});

test("an expired lease counts in full until its report, which counts once", () => {
  const lease: QuotaLease = { state: "OPEN", granted: 10 };
  const expired = expireLease(lend(usage(0n, 0n), 100n, 10), lease);
  expect(expired).toEqual(usage(10n, 0n));
  const accounted = accountForLease(expired, { ...lease, state: "EXPIRED" }, 4);
  expect(accounted).toEqual(usage(4n, 0n));
  expect(accountForLease(accounted, { ...lease, state: "ACCOUNTED" }, 4)).toEqual(accounted);
});

test("a report above the granted units is refused", () => {
  const fields = [{ path: "accounts.spent", message: "only 10 were lent" }];
  expect(() => accountForLease(usage(0n, 10n), { state: "OPEN", granted: 10 }, 11)).toThrow(
    expect.objectContaining({ code: "REQ_001", details: { fields } }),
  );
});

test.each([
  ["an expiry of an expired lease", () => expireLease(usage(0n, 10n), lease("EXPIRED")), "only an open"],
  ["a lease beyond the limit", () => lend(usage(95n, 0n), 100n, 6), "beyond its limit"],
  ["an expiry of units that are not lent", () => expireLease(usage(0n, 9n), lease("OPEN")), "negative"],
  [
    "a report of units that are not spent",
    () => accountForLease(usage(9n, 0n), lease("EXPIRED"), 0),
    "negative",
  ],
])("%s is a programming error", (_, change, message) => {
  expect(change).toThrow(message);
});

function lease(state: QuotaLease["state"]): QuotaLease {
  return { state, granted: 10 };
}

test("usage never exceeds the limit, and reported units return, whatever gateways repeat or lose", () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant("lease" as const), wanted: fc.nat(40) }),
    fc.record({ kind: fc.constant("spend" as const), lease: fc.nat(30) }),
    fc.record({ kind: fc.constant("account" as const), lease: fc.nat(30) }),
    fc.record({ kind: fc.constant("expire" as const), lease: fc.nat(30) }),
  );
  fc.assert(
    fc.property(fc.bigInt(0n, 200n), fc.array(step, { maxLength: 300 }), (limit, steps) => {
      let now: QuotaUsage = usage(0n, 0n, limit);
      const leases: { state: QuotaLease["state"]; granted: number; spent: number }[] = [];
      let everSpent = 0;
      for (const next of steps) {
        if (next.kind === "lease") {
          const granted = leaseSize(now, limit, next.wanted);
          if (granted === 0) continue;
          now = lend(now, limit, granted);
          leases.push({ state: "OPEN", granted, spent: 0 });
          continue;
        }
        const lease = leases[next.lease % Math.max(1, leases.length)];
        if (!lease) continue;
        if (next.kind === "spend" && lease.state === "OPEN" && lease.spent < lease.granted) {
          lease.spent += 1;
          everSpent += 1;
        } else if (next.kind === "account") {
          now = accountForLease(now, lease, lease.spent);
          lease.state = "ACCOUNTED";
        } else if (next.kind === "expire" && lease.state === "OPEN") {
          now = expireLease(now, lease);
          lease.state = "EXPIRED";
        }
        expect(everSpent).toBeLessThanOrEqual(Number(limit));
      }
      for (const lease of leases) {
        now = accountForLease(now, lease, lease.spent);
        lease.state = "ACCOUNTED";
      }
      expect(now).toEqual(usage(BigInt(everSpent), 0n, limit));
    }),
    { numRuns: 500 },
  );
});
