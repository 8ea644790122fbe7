import { tx, type Tx } from "@wonrail/kit/db";
import { invalidRequest } from "@wonrail/kit/contract/errors";
import { type Id } from "@wonrail/kit/contract/ids";
import { type Deps } from "./deps";
import { periodOf, type Period } from "../domain/periods";
import { quotaLimit, type Quota } from "../domain/plans";
import { accountForLease, leaseSize, lend, QUOTA_LEASE_MS, type QuotaUsage } from "../domain/quotas";
import { notifyChange } from "../store/changes";
import { findOrganisation } from "../store/organisations";
import {
  closeQuotaLease,
  findQuotaLeases,
  insertQuotaLease,
  sumRecallableUnits,
  type StoredLease,
} from "../store/quotaLeases";
import { lockQuotaUsages, updateQuotaUsage, type UsageKey } from "../store/quotaUsages";

export interface LeaseQuotaInput {
  orgId: Id<"org">;
  quota: Quota;
  replicaId: string;
  /** 0 when the call only accounts for leases. */
  wanted: number;
  /** Chosen by the gateway; null when `wanted` is 0. */
  leaseId: string | null;
  accounts: { leaseId: string; spent: number }[];
}

export interface QuotaGrant {
  granted: number;
  validForMs: number;
  limit: bigint;
  usage: QuotaUsage;
  recallable: bigint;
  period: Period;
}

/**
 * Records the reports of earlier leases, then grants free units. A repeated call changes nothing
 * and returns the same grant.
 */
export async function leaseQuota({ db }: Deps, input: LeaseQuotaInput): Promise<QuotaGrant> {
  const found = await findOrganisation(db, input.orgId);
  if (!found) throw invalidRequest([{ path: "orgId", message: "there is no such organisation" }]);
  const period = periodOf(input.quota, found.now);
  const limit = quotaLimit(found.organisation.plan, input.quota);
  return tx(db, (tx) => grant(tx, input, { now: found.now, period, limit }));
}

interface Terms {
  now: Date;
  period: Period;
  limit: bigint;
}

async function grant(tx: Tx, input: LeaseQuotaInput, terms: Terms): Promise<QuotaGrant> {
  const { orgId, quota, accounts } = input;
  const { period, now } = terms;
  const key: UsageKey = { orgId, quota, period: period.name };
  const named = [
    ...accounts.map(({ leaseId }) => leaseId),
    ...(input.leaseId === null ? [] : [input.leaseId]),
  ];
  const usages = await lockQuotaUsages(tx, key, named);
  const leases = new Map(
    (await findQuotaLeases(tx, orgId, quota, named)).map((lease) => [lease.leaseId, lease]),
  );

  await takeAccounts(tx, input, usages, leases);
  await closeUnknownLeases(tx, input, key, now, leases);
  const before = usages.get(key.period)!;
  const given = input.leaseId === null ? undefined : leases.get(input.leaseId);
  const lent = given ?? newLease(input, key, before, terms);
  if (lent && !given) {
    await insertQuotaLease(tx, lent);
    usages.set(key.period, lend(before, terms.limit, lent.granted));
  }
  for (const [name, usage] of usages) await updateQuotaUsage(tx, { ...key, period: name }, usage);

  const granted = lent?.state === "OPEN" ? lent.granted : 0;
  const recallable = granted === 0 && input.wanted > 0 ? await recall(tx, input, key, now) : 0n;
  const validForMs = lent ? Math.max(0, lent.expiresAt.getTime() - now.getTime()) : 0;
  return { granted, validForMs, limit: terms.limit, usage: usages.get(key.period)!, recallable, period };
}

/**
 * Ignores the account of a lease that is unknown or accounted for: its units count as spent
 * already.
 */
async function takeAccounts(
  tx: Tx,
  { accounts }: LeaseQuotaInput,
  usages: Map<string, QuotaUsage>,
  leases: Map<string, StoredLease>,
): Promise<void> {
  for (const { leaseId, spent } of accounts) {
    const lease = leases.get(leaseId);
    if (!lease || lease.state === "ACCOUNTED") continue;
    usages.set(lease.period, accountForLease(usages.get(lease.period)!, lease, spent));
    leases.set(leaseId, { ...lease, state: "ACCOUNTED" });
    await closeQuotaLease(tx, lease, spent);
  }
}

/**
 * Closes leases that are reported before their call arrives, because the gateway gave the call up.
 * The late call must grant nothing: no report would follow.
 */
async function closeUnknownLeases(
  tx: Tx,
  { accounts, replicaId }: LeaseQuotaInput,
  key: UsageKey,
  now: Date,
  leases: Map<string, StoredLease>,
): Promise<void> {
  for (const { leaseId, spent } of accounts) {
    if (leases.has(leaseId) || spent > 0) continue;
    const times = { grantedAt: now, expiresAt: now };
    const closed: StoredLease = { ...key, leaseId, replicaId, state: "ACCOUNTED", granted: 0, ...times };
    leases.set(leaseId, closed);
    await insertQuotaLease(tx, closed);
  }
}

function newLease(
  { leaseId, wanted, replicaId }: LeaseQuotaInput,
  key: UsageKey,
  usage: QuotaUsage,
  { now, limit, period }: Terms,
): StoredLease | undefined {
  const granted = leaseSize(usage, limit, wanted);
  if (leaseId === null || granted === 0) return undefined;
  const expiresMs = Math.min(now.getTime() + QUOTA_LEASE_MS, period.resetsAt?.getTime() ?? Infinity);
  return {
    ...key,
    leaseId,
    replicaId,
    state: "OPEN",
    granted,
    grantedAt: now,
    expiresAt: new Date(expiresMs),
  };
}

/** Asks other gateways to return unused units when none is free. */
async function recall(
  tx: Tx,
  { orgId, quota, replicaId }: LeaseQuotaInput,
  key: UsageKey,
  now: Date,
): Promise<bigint> {
  const recallable = await sumRecallableUnits(tx, key, replicaId, now);
  if (recallable > 0n) await notifyChange(tx, { kind: "quota_recalled", orgId, quota });
  return recallable;
}
