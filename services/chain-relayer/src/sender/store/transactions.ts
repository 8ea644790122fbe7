import { type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";

/** The right to write for a signer. Each change of hands raises the epoch. */
export interface Lease {
  signer: string;
  holder: string;
  epoch: bigint;
}

export interface ChainTransaction {
  transactionId: bigint;
  nonce: bigint;
  state: "SIGNED" | "SENT" | "MINED";
  /** Time since the last attempt to send it, by the database's clock; null before the first. */
  sentAgoMs: number | null;
  /** Oldest first. */
  versions: Version[];
}

export interface Version {
  txHash: string;
  maxFeeWei: bigint;
  priorityFeeWei: bigint;
  ageMs: number;
}

export type NewVersion = Omit<Version, "ageMs"> & { raw: Buffer };

/** The call of a transaction, the same in every version. */
export interface Call {
  to: string;
  callData: Buffer;
  gasLimit: bigint;
}

/**
 * Takes or renews the lease; null while another holds it. The epoch grows with every change of
 * hands. An end later than any possible lease stems from before the database's clock was set back;
 * the new epoch fences its holder.
 */
export async function acquireLease(
  db: Queryable,
  signer: string,
  holder: string,
  ttlMs: number,
): Promise<Lease | null> {
  await db.run(sql`insert into signers (address) values (${signer}) on conflict do nothing`);
  const [row] = await db.write<{ epoch: bigint }>(sql`
    update signers set holder = ${holder}, lease_ends_at = clock_timestamp() + make_interval(secs => ${ttlMs / 1000}),
      epoch = case when holder is not distinct from ${holder} and lease_ends_at > clock_timestamp() then epoch else epoch + 1 end
    where address = ${signer} and (holder is not distinct from ${holder}
      or not lease_ends_at between clock_timestamp() and clock_timestamp() + make_interval(secs => ${(2 * ttlMs) / 1000}))
    returning epoch`);
  return row ? { signer, holder, epoch: row.epoch } : null;
}

/** Renews the lease during the work. A stopped process renews nothing. */
export async function renewLeaseDuring<T>(
  db: Queryable,
  lease: Lease,
  ttlMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const timer = setInterval(() => {
    // The fence stops a writer whose renewal failed.
    renewLease(db, lease, ttlMs).catch(() => undefined);
  }, ttlMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

async function renewLease(db: Queryable, { signer, epoch }: Lease, ttlMs: number): Promise<void> {
  await db.run(sql`
    update signers set lease_ends_at = clock_timestamp() + make_interval(secs => ${ttlMs / 1000})
    where address = ${signer} and epoch = ${epoch} and lease_ends_at > clock_timestamp()`);
}

export async function releaseLease(db: Queryable, signer: string, holder: string): Promise<void> {
  await db.run(sql`
    update signers set lease_ends_at = clock_timestamp() where address = ${signer} and holder = ${holder}`);
}

export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/** Locks the signer for the rest of the transaction, and stops a writer that has lost its lease. */
export async function fence(tx: Tx, { signer, epoch }: Lease): Promise<{ nextNonce: bigint }> {
  const row = await tx.one<{ next_nonce: bigint; epoch: bigint }>(
    sql`select next_nonce, epoch from signers where address = ${signer} for update`,
  );
  if (row.epoch !== epoch) throw new LeaseLostError("another writer has the lease");
  return { nextNonce: row.next_nonce };
}

/** Locks all signers, so that one writer plans at a time and no queue is planned twice. */
export async function lockPlanning(tx: Tx, { signer, epoch }: Lease): Promise<void> {
  const rows = await tx.query<{ address: string; epoch: bigint }>(
    sql`select address, epoch from signers order by address for update`,
  );
  if (rows.find(({ address }) => address === signer)?.epoch !== epoch)
    throw new LeaseLostError("another writer has the lease");
}

/**
 * True when the lease ended long ago, or ends impossibly late because the database's clock was set
 * back.
 */
function hasNoWriter(withoutWriterMs: number): Sql {
  const withoutWriter = sql`make_interval(secs => ${withoutWriterMs / 1000})`;
  return sql`not lease_ends_at between clock_timestamp() - ${withoutWriter} and clock_timestamp() + ${withoutWriter}`;
}

/** Other signers without a writer for this long, and with open transactions. */
export async function listRetiredSigners(
  db: Queryable,
  { signer }: Lease,
  withoutWriterMs: number,
): Promise<string[]> {
  const rows = await db.query<{ address: string }>(sql`
    select address from signers
    where address <> ${signer} and ${hasNoWriter(withoutWriterMs)}
      and exists (select from transactions t where t.signer = address and t.state in ('SIGNED', 'SENT', 'MINED'))
    order by address`);
  return rows.map(({ address }) => address);
}

/** Locks all signers and fences off a retired one. Returns false if that one has a writer again. */
export async function fenceRetiredSigner(
  tx: Tx,
  lease: Lease,
  gone: string,
  withoutWriterMs: number,
): Promise<boolean> {
  await lockPlanning(tx, lease);
  const stopped = await tx.run(sql`
    update signers set epoch = epoch + 1
    where address = ${gone} and ${hasNoWriter(withoutWriterMs)}`);
  return stopped === 1;
}

/** The next unused nonce. */
export async function findNextNonce(db: Queryable, signer: string): Promise<bigint> {
  const row = await db.maybe<{ next_nonce: bigint }>(
    sql`select next_nonce from signers where address = ${signer}`,
  );
  return row?.next_nonce ?? 0n;
}

export async function setNextNonce(tx: Tx, signer: string, nextNonce: bigint): Promise<void> {
  await tx.run(sql`update signers set next_nonce = ${nextNonce} where address = ${signer}`);
}

/** Raises the next nonce, never lowers it: a used nonce may still be mined. */
export async function raiseNextNonce(tx: Tx, signer: string, atLeast: bigint): Promise<void> {
  await tx.run(
    sql`update signers set next_nonce = greatest(next_nonce, ${atLeast}) where address = ${signer}`,
  );
}

export interface NewTransaction extends Call {
  signer: string;
  nonce: bigint;
  epoch: bigint;
  version: NewVersion;
}

/** The write-ahead log: signed bytes are stored before they are sent. */
export async function storeSigned(tx: Tx, of: NewTransaction): Promise<bigint> {
  const row = await tx.one<{ transaction_id: bigint }>(sql`
    insert into transactions (signer, nonce, epoch, recipient, call_data, gas_limit, state)
    values (${of.signer}, ${of.nonce}, ${of.epoch}, ${of.to}, ${of.callData}, ${of.gasLimit}, 'SIGNED') returning transaction_id`);
  await insertVersion(tx, row.transaction_id, of.version);
  return row.transaction_id;
}

/** Releases the call, whose nonce a no-op will use. */
export async function replaceCallWithNoop(
  tx: Tx,
  transactionId: bigint,
  of: Pick<NewTransaction, "to" | "gasLimit">,
): Promise<void> {
  await tx.run(sql`
    update transactions set recipient = ${of.to}, call_data = ''::bytea, gas_limit = ${of.gasLimit}
    where transaction_id = ${transactionId}`);
}

/** The newest of its transaction, also where the database's clock was set back since the last. */
export async function insertVersion(tx: Tx, transactionId: bigint, version: NewVersion): Promise<void> {
  await tx.run(sql`
    insert into transaction_versions (tx_hash, transaction_id, raw, max_fee_wei, priority_fee_wei, created_at)
    values (${version.txHash}, ${transactionId}, ${version.raw}, ${version.maxFeeWei}, ${version.priorityFeeWei},
      (select greatest(now(), max(created_at) + interval '1 microsecond')
       from transaction_versions where transaction_id = ${transactionId}))
    on conflict do nothing`);
}

/** Records a try to send; `taken` if a node has the bytes, or may have them. */
export async function recordSend(db: Queryable, transactionId: bigint, taken: boolean): Promise<void> {
  await db.run(sql`
    update transactions set state = case when ${taken} then 'SENT' else state end, sends = sends + 1, sent_at = now()
    where transaction_id = ${transactionId} and state in ('SIGNED', 'SENT')`);
}

/** Marks these as mined, final or not, and the dropped ones as to be sent again. */
export async function recordMined(db: Queryable, mined: bigint[], dropped: bigint[]): Promise<void> {
  await db.run(sql`
    update transactions set state = case when transaction_id = any(${mined}::bigint[]) then 'MINED' else 'SENT' end
    where transaction_id = any(${[...mined, ...dropped]}::bigint[]) and state in ('SIGNED', 'SENT', 'MINED')`);
}

/**
 * Nonces from the chain's next one on that no transaction of ours has. Transactions behind them
 * cannot be mined.
 */
export async function listNonceGaps(db: Queryable, signer: string, chainNonce: bigint): Promise<bigint[]> {
  const rows = await db.query<{ nonce: bigint }>(sql`
    select nonce from signers, generate_series(${chainNonce}::bigint, least(next_nonce, ${chainNonce}::bigint + 100) - 1) as nonce
    where address = ${signer} and not exists (select from transactions t where t.signer = address and t.nonce = nonce.nonce)
    order by nonce`);
  return rows.map((row) => row.nonce);
}

/**
 * Reopens transactions that were lost when their key was replaced: once the key is back, their free
 * nonces block later ones.
 */
export async function reopenTransactions(tx: Tx, signer: string, chainNonce: bigint): Promise<void> {
  await tx.run(sql`
    update transactions set state = 'SENT' where signer = ${signer} and state = 'LOST' and nonce >= ${chainNonce}`);
}

export async function markTransaction(
  tx: Tx,
  transactionId: bigint,
  state: "FINAL" | "LOST",
): Promise<boolean> {
  const changed = await tx.run(sql`
    update transactions set state = ${state}
    where transaction_id = ${transactionId} and state in ('SIGNED', 'SENT', 'MINED')`);
  return changed === 1;
}

/** Signers with open transactions, retired ones included. */
export async function listBusySigners(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ signer: string }>(
    sql`select distinct signer from transactions where state in ('SIGNED', 'SENT', 'MINED') order by signer`,
  );
  return rows.map(({ signer }) => signer);
}

/**
 * Open transactions in the order of their nonces, with every signed version. Without the bytes,
 * which are 80 KB of a full batch.
 */
export async function listOpenTransactions(db: Queryable, signer: string): Promise<ChainTransaction[]> {
  const rows = await db.query<{
    transaction_id: bigint;
    nonce: bigint;
    state: "SIGNED" | "SENT" | "MINED";
    sent_ago_ms: number | null;
    tx_hash: string;
    max_fee_wei: bigint;
    priority_fee_wei: bigint;
    age_ms: number;
  }>(sql`
    select t.transaction_id, t.nonce, t.state, v.tx_hash, v.max_fee_wei, v.priority_fee_wei,
      (extract(epoch from clock_timestamp() - t.sent_at) * 1000)::float8 as sent_ago_ms,
      (extract(epoch from clock_timestamp() - v.created_at) * 1000)::float8 as age_ms
    from transactions t join transaction_versions v using (transaction_id)
    where t.signer = ${signer} and t.state in ('SIGNED', 'SENT', 'MINED') order by t.nonce, v.created_at`);
  const open = new Map<bigint, ChainTransaction>();
  for (const row of rows) {
    const version = {
      txHash: row.tx_hash,
      maxFeeWei: row.max_fee_wei,
      priorityFeeWei: row.priority_fee_wei,
      ageMs: row.age_ms,
    };
    const known = open.get(row.transaction_id);
    if (known) known.versions.push(version);
    else {
      const { transaction_id: transactionId, nonce, state, sent_ago_ms: sentAgoMs } = row;
      open.set(transactionId, { transactionId, nonce, state, sentAgoMs, versions: [version] });
    }
  }
  return [...open.values()];
}

/** The hashes of every version. */
export function hashesOf(transactions: ChainTransaction[]): string[] {
  return transactions.flatMap(({ versions }) => versions.map(({ txHash }) => txHash));
}

export async function findCall(db: Queryable, transactionId: bigint): Promise<Call> {
  const row = await db.one<{ recipient: string; call_data: Buffer; gas_limit: bigint }>(
    sql`select recipient, call_data, gas_limit from transactions where transaction_id = ${transactionId}`,
  );
  return { to: row.recipient, callData: row.call_data, gasLimit: row.gas_limit };
}

/** The signed bytes of a version. */
export async function findRaw(db: Queryable, txHash: string): Promise<Buffer> {
  const { raw } = await db.one<{ raw: Buffer }>(
    sql`select raw from transaction_versions where tx_hash = ${txHash}`,
  );
  return raw;
}

/**
 * Empties the bytes of the next old transactions behind this one, where they are final; others may
 * need them again. Returns the checked ids in order; emptied ones are not checked again.
 */
export async function pruneFinalBytes(tx: Tx, after: bigint, limit: number): Promise<bigint[]> {
  const rows = await tx.query<{ transaction_id: bigint }>(sql`
    with old as (
      select t.transaction_id, t.state from (
        select distinct transaction_id from transaction_versions
        where transaction_id > ${after} and raw <> ''::bytea order by transaction_id limit ${limit}) as kept
      join transactions t using (transaction_id)
      where t.created_at < now() - interval '30 days'
      order by transaction_id for update of t skip locked),
    unsigned as (
      update transaction_versions v set raw = ''::bytea from old
      where v.transaction_id = old.transaction_id and old.state = 'FINAL' and v.raw <> ''::bytea),
    uncalled as (
      update transactions t set call_data = ''::bytea from old
      where t.transaction_id = old.transaction_id and old.state = 'FINAL' and t.call_data <> ''::bytea)
    select transaction_id from old order by transaction_id`);
  return rows.map((row) => row.transaction_id);
}

/** The highest cost of all open transactions from the chain's next nonce on. */
export async function sumOpenCosts(db: Queryable, signer: string, chainNonce: bigint): Promise<bigint> {
  const { wei } = await db.one<{ wei: bigint }>(sql`
    select coalesce(sum(gas_limit * dearest.max_fee_wei), 0) as wei from transactions t
    cross join lateral (
      select max(max_fee_wei) as max_fee_wei from transaction_versions v where v.transaction_id = t.transaction_id) as dearest
    where signer = ${signer} and state in ('SIGNED', 'SENT', 'MINED') and nonce >= ${chainNonce}`);
  return wei;
}

/** How many transactions are signed and in no block. */
export async function countPendingTransactions(db: Queryable, signer: string): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(
    sql`select count(*) from transactions where signer = ${signer} and state in ('SIGNED', 'SENT')`,
  );
  return Number(count);
}
