import { type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { won, type Won } from "@wonrail/kit/contract/money";
import { type Booking } from "../domain/deposits";

export interface NewDeposit extends Booking {
  txHash: string;
  logIndex: number;
  blockNumber: bigint;
  blockHash: string;
  orgId: string;
  walletId: string;
  fromAddress: string;
  units: bigint;
  ledgerRef: string;
}

/** A deposit that the ledger must credit. */
export interface SeenDeposit {
  txHash: string;
  logIndex: number;
  blockNumber: bigint;
  blockHash: string;
  orgId: string;
  walletId: string;
  fromAddress: string;
  amountWon: Won;
  ledgerRef: string;
}

interface DepositRow {
  tx_hash: string;
  log_index: number;
  block_number: bigint;
  block_hash: string;
  org_id: string;
  wallet_id: string;
  from_address: string;
  amount_won: bigint;
  ledger_ref: string;
}

/** Inserts deposits, each log once, and counts them as unbooked money. */
export async function insertDeposits(tx: Tx, deposits: NewDeposit[]): Promise<void> {
  if (deposits.length === 0) return;
  await tx.run(sql`
    with inserted as (
      insert into deposits (tx_hash, log_index, block_number, block_hash, org_id, wallet_id, from_address,
        units, amount_won, ledger_ref, state)
      select * from unnest(
        ${deposits.map((one) => one.txHash)}::text[],
        ${deposits.map((one) => one.logIndex)}::integer[],
        ${deposits.map((one) => one.blockNumber)}::bigint[],
        ${deposits.map((one) => one.blockHash)}::text[],
        ${deposits.map((one) => one.orgId)}::text[],
        ${deposits.map((one) => one.walletId)}::text[],
        ${deposits.map((one) => one.fromAddress)}::text[],
        ${deposits.map((one) => one.units)}::numeric[],
        ${deposits.map((one) => one.amountWon)}::bigint[],
        ${deposits.map((one) => one.ledgerRef)}::text[],
        ${deposits.map((one) => one.state)}::text[])
      on conflict (tx_hash, log_index) do nothing
      returning org_id, wallet_id, units)
    insert into settled_balances (org_id, account_id, unbooked_units)
    select org_id, wallet_id, sum(units) from inserted group by 1, 2 order by 1, 2
    on conflict (org_id, account_id) do update
      set unbooked_units = settled_balances.unbooked_units + excluded.unbooked_units`);
}

/** Deposits to credit now, oldest first. */
export async function listSeenDeposits(db: Queryable, limit: number): Promise<SeenDeposit[]> {
  const rows = await db.query<DepositRow>(sql`
    select tx_hash, log_index, block_number, block_hash, org_id, wallet_id, from_address, amount_won, ledger_ref
    from deposits where state = 'SEEN' and retry_at <= now() order by retry_at limit ${limit}`);
  return rows.map((row) => ({
    txHash: row.tx_hash,
    logIndex: row.log_index,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    orgId: row.org_id,
    walletId: row.wallet_id,
    fromAddress: row.from_address,
    amountWon: won(row.amount_won),
    ledgerRef: row.ledger_ref,
  }));
}

/**
 * Returns undefined when another replica was faster. `creditedRef` is the request id in the ledger.
 */
export async function markCredited(
  tx: Tx,
  { txHash, logIndex }: Pick<SeenDeposit, "txHash" | "logIndex">,
  creditedRef: string,
): Promise<Date | undefined> {
  const row = await tx.maybe<{ credited_at: Date }>(sql`
    with credited as (
      update deposits set state = 'CREDITED', ledger_ref = ${creditedRef}, refusal = null, credited_at = now()
      where tx_hash = ${txHash} and log_index = ${logIndex} and state = 'SEEN'
      returning org_id, wallet_id, units - remainder_units as units, credited_at)
    update settled_balances b set unbooked_units = b.unbooked_units - credited.units
    from credited where b.org_id = credited.org_id and b.account_id = credited.wallet_id
    returning credited.credited_at`);
  return row?.credited_at;
}

/** Postpones a deposit that the ledger refuses, with growing pauses. */
export async function postponeDeposit(
  db: Queryable,
  { txHash, logIndex }: Pick<SeenDeposit, "txHash" | "logIndex">,
  refusal: string,
): Promise<void> {
  await db.run(sql`
    update deposits set attempts = attempts + 1, refusal = ${refusal},
      retry_at = now() + make_interval(secs => least(power(2, least(attempts, 20)), 600))
    where tx_hash = ${txHash} and log_index = ${logIndex} and state = 'SEEN'`);
}

/** Sums of tokens that will not get into the ledger, and of those on their way. */
export async function countUncreditedDeposits(db: Queryable): Promise<{
  dust: number;
  tooLarge: number;
  remainderUnits: bigint;
  seen: number;
  oldestSeenSeconds: number;
}> {
  const row = await db.one<{
    dust: bigint;
    too_large: bigint;
    remainder_units: bigint;
    seen: bigint;
    oldest: number;
  }>(sql`
    select
      (select count(*) from deposits where state = 'DUST') as dust,
      (select count(*) from deposits where state = 'TOO_LARGE') as too_large,
      (select coalesce(sum(remainder_units), 0) from deposits
       where (state in ('DUST', 'TOO_LARGE') or remainder_units > 0)) as remainder_units,
      (select count(*) from deposits where state = 'SEEN') as seen,
      (select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 from deposits where state = 'SEEN') as oldest`);
  return {
    dust: Number(row.dust),
    tooLarge: Number(row.too_large),
    remainderUnits: row.remainder_units,
    seen: Number(row.seen),
    oldestSeenSeconds: row.oldest,
  };
}

/** A deposit as operators see it. */
export interface DepositView {
  orgId: string;
  walletId: string;
  fromAddress: string;
  txHash: string;
  logIndex: number;
  blockNumber: bigint;
  blockHash: string;
  units: bigint;
  amountWon: bigint;
  ledgerRef: string;
  state: string;
  attempts: number;
  refusal: string | null;
  createdAt: Date;
  creditedAt: Date | null;
}

const VIEW = sql`
  org_id as "orgId", wallet_id as "walletId", from_address as "fromAddress", tx_hash as "txHash",
  log_index as "logIndex", block_number as "blockNumber", block_hash as "blockHash", units,
  amount_won as "amountWon", ledger_ref as "ledgerRef", state, attempts, refusal, created_at as "createdAt",
  credited_at as "creditedAt"`;

export function findDeposit(db: Queryable, ledgerRef: string): Promise<DepositView | undefined> {
  return db.maybe<DepositView>(sql`select ${VIEW} from deposits where ledger_ref = ${ledgerRef}`);
}

export function listDepositsOfTransaction(
  db: Queryable,
  txHash: string,
  limit: number,
): Promise<DepositView[]> {
  return db.query<DepositView>(sql`
    select ${VIEW} from deposits where tx_hash = ${txHash} order by log_index limit ${limit}`);
}
