import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Page, rowsToRead } from "@wonrail/kit/page";

export type PayoutMode = "ATOMIC" | "BEST_EFFORT";
export type PayoutStatus = "PENDING" | "COMPLETED" | "REFUSED";

export interface Payout {
  orgId: string;
  payoutId: string;
  mode: PayoutMode;
  dryRun: boolean;
  fromWalletId: string;
  status: PayoutStatus;
  totalWon: bigint;
  rowCount: number;
  acceptedCount: number;
  refusedCount: number;
  skippedCount: number;
  acceptedWon: bigint;
  createdAt: Date;
  completedAt: Date | null;
}

export interface PayoutKey {
  idempotencyKey: string;
  bodyHash: Buffer;
}

const COLUMNS = sql`
  org_id as "orgId", payout_id as "payoutId", mode, dry_run as "dryRun", from_wallet_id as "fromWalletId", status,
  total_won as "totalWon", row_count as "rowCount", accepted_count as "acceptedCount", refused_count as "refusedCount",
  skipped_count as "skippedCount", accepted_won as "acceptedWon", created_at as "createdAt", completed_at as "completedAt"`;

/** False when another payout has the key. */
export async function insertPayout(tx: Tx, payout: Payout, key: PayoutKey | null): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into payouts (org_id, payout_id, mode, dry_run, from_wallet_id, total_won, row_count, idempotency_key,
      body_hash, created_at)
    values (${payout.orgId}, ${payout.payoutId}, ${payout.mode}, ${payout.dryRun}, ${payout.fromWalletId},
      ${payout.totalWon}, ${payout.rowCount}, ${key?.idempotencyKey ?? null}, ${key?.bodyHash ?? null},
      ${payout.createdAt})
    on conflict (org_id, idempotency_key) where idempotency_key is not null do nothing`);
  return inserted === 1;
}

export async function findPayoutByKey(
  db: Queryable,
  orgId: string,
  idempotencyKey: string,
): Promise<(Payout & { bodyHash: Buffer }) | undefined> {
  return db.maybe(sql`
    select ${COLUMNS}, body_hash as "bodyHash" from payouts
    where org_id = ${orgId} and idempotency_key = ${idempotencyKey}`);
}

export async function findPayout(
  db: Queryable,
  orgId: string,
  payoutId: string,
): Promise<Payout | undefined> {
  return db.maybe<Payout>(
    sql`select ${COLUMNS} from payouts where org_id = ${orgId} and payout_id = ${payoutId}`,
  );
}

/** Newest first, or oldest first as the page wants. */
export async function listPayouts(
  db: Queryable,
  { orgId, status, page }: { orgId: string; status: PayoutStatus | undefined; page: Page },
): Promise<Payout[]> {
  const isBehind = page.oldestFirst ? sql`payout_id >` : sql`payout_id <`;
  return db.query<Payout>(sql`
    select ${COLUMNS} from payouts
    where org_id = ${orgId} ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${page.after === null ? sql`` : sql`and ${isBehind} ${page.after}`}
    order by payout_id ${page.oldestFirst ? sql`asc` : sql`desc`}
    limit ${rowsToRead(page)} offset ${page.offset}`);
}

/** Leases the PENDING payout that waited longest. Its lease ends after `leaseMs`. */
export async function leasePayout(db: Queryable, leaseMs: number): Promise<Payout | undefined> {
  const [leased] = await db.write<Payout>(sql`
    update payouts set leased_until = now() + make_interval(secs => ${leaseMs / 1_000})
    where (org_id, payout_id) = (
      select org_id, payout_id from payouts where status = 'PENDING' and leased_until <= now()
      order by leased_until, payout_id limit 1 for update skip locked)
    returning ${COLUMNS}`);
  return leased;
}

/** Another round, or another replica, takes the payout after this time. */
export async function endLease(db: Queryable, { orgId, payoutId }: Payout, pauseMs: number): Promise<void> {
  await db.run(sql`
    update payouts set leased_until = now() + make_interval(secs => ${pauseMs / 1_000})
    where org_id = ${orgId} and payout_id = ${payoutId} and status = 'PENDING'`);
}

/** Locks a payout that is still PENDING. */
export async function lockPayout(tx: Tx, { orgId, payoutId }: Payout): Promise<Payout | undefined> {
  return tx.maybe<Payout>(sql`
    select ${COLUMNS} from payouts
    where org_id = ${orgId} and payout_id = ${payoutId} and status = 'PENDING' for update`);
}

export async function savePayout(tx: Tx, payout: Payout): Promise<Payout> {
  return tx.one<Payout>(sql`
    update payouts set status = ${payout.status}, accepted_count = ${payout.acceptedCount},
      refused_count = ${payout.refusedCount}, skipped_count = ${payout.skippedCount},
      accepted_won = ${payout.acceptedWon}, leased_until = now(),
      completed_at = case when ${payout.status} <> 'PENDING' then now() end
    where org_id = ${payout.orgId} and payout_id = ${payout.payoutId}
    returning ${COLUMNS}`);
}
