import { type Queryable, sql } from "@wonrail/kit/db";

/** The signer's money for gas, as measurements saw it. */
export interface SignerFunds {
  /** Null before the first measurement. */
  balanceWei: bigint | null;
  measuredAt: Date | null;
  /** The sum of the decreases within the last 24 hours. */
  spentWei: bigint;
  /** The time of these measurements. */
  spentOverSeconds: number;
}

/** Every replica measures. More than one measurement a minute would add noise. */
const MEASURE_AGAIN_S = 50;

/** Adds a decrease of the balance to the hour's spending. An increase is a top-up. */
export async function recordBalance(db: Queryable, address: string, balanceWei: bigint): Promise<void> {
  await db.run(sql`
    insert into signer_balances as b (address, hour, began_at, measured_at, balance_wei, spent_wei)
    values (${address}, date_trunc('hour', now()), now(), now(), ${balanceWei}, greatest(0, coalesce((
      select last.balance_wei from signer_balances last where last.address = ${address}
      order by last.hour desc limit 1) - ${balanceWei}::numeric, 0)))
    on conflict (address, hour) do update set measured_at = excluded.measured_at, balance_wei = excluded.balance_wei,
      spent_wei = b.spent_wei + greatest(0, b.balance_wei - excluded.balance_wei)
    where b.measured_at < now() - make_interval(secs => ${MEASURE_AGAIN_S})`);
  await db.run(sql`
    delete from signer_balances where address = ${address} and hour < now() - interval '2 days'`);
}

export function findSignerFunds(db: Queryable, address: string): Promise<SignerFunds> {
  return db.one<SignerFunds>(sql`
    select (array_agg(balance_wei order by hour desc))[1] as "balanceWei", max(measured_at) as "measuredAt",
      coalesce(sum(spent_wei), 0) as "spentWei",
      coalesce(extract(epoch from max(measured_at) - min(began_at)), 0)::integer as "spentOverSeconds"
    from signer_balances where address = ${address} and hour > now() - interval '24 hours'`);
}

export interface SignerState {
  nextNonce: bigint;
  /** The replica that may sign; null while there is none. */
  holder: string | null;
  leaseEndsAt: Date | null;
}

export async function findSignerState(db: Queryable, address: string): Promise<SignerState> {
  const row = await db.maybe<SignerState>(sql`
    select next_nonce as "nextNonce", case when lease_ends_at > clock_timestamp() then holder end as holder,
      case when lease_ends_at > clock_timestamp() then lease_ends_at end as "leaseEndsAt"
    from signers where address = ${address}`);
  return row ?? { nextNonce: 0n, holder: null, leaseEndsAt: null };
}

/** A transaction under way, with its newest version. */
export interface PendingTransaction {
  transactionId: bigint;
  nonce: bigint;
  state: string;
  txHash: string;
  versions: number;
  sends: number;
  createdAt: Date;
  sentAt: Date | null;
  gasLimit: bigint;
  maxFeeWei: bigint;
}

/** The lowest nonce first. */
export function listPendingTransactions(
  db: Queryable,
  signer: string,
  limit: number,
): Promise<PendingTransaction[]> {
  return db.query<PendingTransaction>(sql`
    select t.transaction_id as "transactionId", t.nonce, t.state, v.tx_hash as "txHash", v.versions, t.sends,
      t.created_at as "createdAt", t.sent_at as "sentAt", t.gas_limit as "gasLimit", v.max_fee_wei as "maxFeeWei"
    from (
      select * from transactions where signer = ${signer} and state in ('SIGNED', 'SENT', 'MINED')
      order by nonce limit ${limit}) t
    cross join lateral (
      select tx_hash, max_fee_wei, (count(*) over ())::integer as versions from transaction_versions
      where transaction_id = t.transaction_id order by created_at desc limit 1) v
    order by t.nonce`);
}

/** The transaction that had this hash in one of its versions. */
export function findTransactionByHash(
  db: Queryable,
  txHash: string,
): Promise<{ transactionId: bigint; nonce: bigint; state: string } | undefined> {
  return db.maybe(sql`
    select t.transaction_id as "transactionId", t.nonce, t.state
    from transaction_versions v join transactions t using (transaction_id) where v.tx_hash = ${txHash}`);
}
