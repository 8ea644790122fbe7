import { type LeaseQuota } from "../middleware/quotas";

/** auth's quota: a limit, leases, and reports that count once. */
export function plan(limit: number) {
  const leases = new Map<string, number>();
  const lease = jest.fn<ReturnType<LeaseQuota>, Parameters<LeaseQuota>>(
    async ({ wanted, leaseId, accounts }) => {
      for (const account of accounts) {
        if (leases.has(account.leaseId)) leases.set(account.leaseId, account.spent);
      }
      const lent = [...leases.values()].reduce((sum, units) => sum + units, 0);
      const granted = Math.min(wanted, limit - lent);
      if (granted > 0) leases.set(leaseId, granted);
      return {
        granted,
        validForMs: 10_000,
        limit,
        used: lent,
        recallable: 0,
        retryAfterMs: 1,
        resetsAt: new Date(0),
      };
    },
  );
  return { lease, lent: () => [...leases.values()].reduce((sum, units) => sum + units, 0) };
}
