import { assert, invalidRequest } from "@wonrail/kit/contract/errors";

/** How long a gateway may use what it was lent, and about how much a crashed one costs its organisation. */
export const QUOTA_LEASE_MS = 10_000;
/** When to ask again after the others were asked to give account. */
export const QUOTA_RECALL_MS = 50;
const MAX_LEASE_UNITS = 1_000n;
/** A lease takes at most this part of what is free, so leases shrink as the limit comes near. */
const LEASE_SHARE = 10n;

/** `spent + leased` never exceeds `limit`: whoever holds a lease may spend it without asking. */
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

/** How many units to lend now. */
export function leaseSize(usage: QuotaUsage, limit: bigint, wanted: number): number {
  const free = limit - usage.spent - usage.leased;
  if (free <= 0n || wanted <= 0) return 0;
  const share = free / LEASE_SHARE;
  return Number(smallest(BigInt(wanted), MAX_LEASE_UNITS, share > 1n ? share : 1n));
}

export function lend(usage: QuotaUsage, limit: bigint, units: number): QuotaUsage {
  return checked({ ...usage, limit, leased: usage.leased + BigInt(units) });
}

/** No account came in time. The gateway may have used all of it, so all of it counts. */
export function expireLease(usage: QuotaUsage, lease: QuotaLease): QuotaUsage {
  assert(lease.state === "OPEN", "only an open lease expires");
  return checked({
    ...usage,
    spent: usage.spent + BigInt(lease.granted),
    leased: usage.leased - BigInt(lease.granted),
  });
}

/**
 * The gateway's final word on a lease. It also holds for one that has expired: whoever gives account has stopped using it, so what
 * was counted by precaution is given back. A second account changes nothing.
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

function smallest(...values: bigint[]): bigint {
  return values.reduce((least, value) => (value < least ? value : least));
}
