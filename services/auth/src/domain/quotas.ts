import { largest, smallest } from "@wonrail/kit/contract/bigints";
import { assert, invalidRequest } from "@wonrail/kit/contract/errors";

/**
 * The life of a lease. A crashed gateway costs its organisation this much time of quota at most.
 */
export const QUOTA_LEASE_MS = 10_000;
/** Pause before the next attempt, after other gateways were asked to return units. */
export const QUOTA_RECALL_MS = 50;
const MAX_LEASE_UNITS = 1_000n;
/** A lease takes at most this part of the free units, so leases shrink near the limit. */
const LEASE_SHARE = 10n;

/** `spent + leased` never exceeds `limit`: a gateway spends its lease without asking. */
export interface QuotaUsage {
  readonly limit: bigint;
  readonly spent: bigint;
  readonly leased: bigint;
}

export type LeaseState = "OPEN" | "EXPIRED" | "ACCOUNTED";

export interface QuotaLease {
  readonly state: LeaseState;
  readonly granted: number;
}

/** The number of units to lend now. */
export function leaseSize(usage: QuotaUsage, limit: bigint, wanted: number): number {
  const free = limit - usage.spent - usage.leased;
  if (free <= 0n || wanted <= 0) return 0;
  return Number(smallest(BigInt(wanted), MAX_LEASE_UNITS, largest(free / LEASE_SHARE, 1n)));
}

export function lend(usage: QuotaUsage, limit: bigint, units: number): QuotaUsage {
  return checked({ ...usage, limit, leased: usage.leased + BigInt(units) });
}

/** The account is overdue. The gateway may have used all units, so all count as spent. */
export function expireLease(usage: QuotaUsage, lease: QuotaLease): QuotaUsage {
  assert(lease.state === "OPEN", "only an open lease expires");
  return checked({
    ...usage,
    spent: usage.spent + BigInt(lease.granted),
    leased: usage.leased - BigInt(lease.granted),
  });
}

/**
 * Records a gateway's final report of a lease. It counts for an expired lease too: the gateway has
 * stopped using it, so the unused units return. A second report changes nothing.
 */
export function accountForLease(usage: QuotaUsage, lease: QuotaLease, spent: number): QuotaUsage {
  if (spent > lease.granted) {
    throw invalidRequest([{ path: "accounts.spent", message: `only ${lease.granted} were lent` }]);
  }
  const granted = BigInt(lease.granted);
  switch (lease.state) {
    case "OPEN":
      return checked({ ...usage, spent: usage.spent + BigInt(spent), leased: usage.leased - granted });
    case "EXPIRED":
      return checked({ ...usage, spent: usage.spent - granted + BigInt(spent) });
    case "ACCOUNTED":
      return usage;
  }
}

function checked(usage: QuotaUsage): QuotaUsage {
  assert(usage.spent >= 0n && usage.leased >= 0n, "quota use cannot be negative");
  assert(usage.spent + usage.leased <= usage.limit, "a quota cannot be lent beyond its limit");
  return usage;
}
