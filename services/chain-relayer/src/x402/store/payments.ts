import { type Queryable, sql, type Sql, type Tx } from "@wonrail/kit/db";
import { type TransferAuthorization } from "../../evm";
import { REASONS } from "../domain/payment";

/** A payment that may be sent. Addresses in lower case. */
export interface Payment extends TransferAuthorization {
  orgId: string;
  signature: Buffer;
}

export interface StoredPayment extends Payment {
  state: "PLANNED" | "IN_FLIGHT" | "CONFIRMED" | "FAILED";
  reason: string | null;
  unusedBlock: bigint;
  txHash: string | null;
  /** A block has its transaction, which may have been reverted. */
  isMined: boolean;
}

export type PaymentKey = Pick<Payment, "orgId" | "from" | "nonce">;

interface PaymentRow {
  payer: string;
  nonce: string;
  org_id: string;
  pay_to: string;
  units: bigint;
  valid_after: bigint;
  valid_before: bigint;
  signature: Buffer;
  state: StoredPayment["state"];
  reason: string | null;
  unused_block: bigint;
  tx_hash: string | null;
  is_mined: boolean;
}

const COLUMNS = sql`p.payer, p.nonce, p.org_id, p.pay_to, p.units, p.valid_after, p.valid_before, p.signature,
  p.state, p.reason, p.unused_block, p.tx_hash, coalesce(t.state in ('MINED', 'FINAL'), false) as is_mined`;
const PAYMENTS = sql`x402_payments p left join transactions t using (transaction_id)`;

export interface NewPayment extends Payment {
  unusedBlock: bigint;
  /** Reserved until the end. */
  gas: bigint;
}

/** Inserts a payment, or plans a failed one again. False while the authorization is taken. */
export async function insertPayment(tx: Tx, of: NewPayment): Promise<boolean> {
  const inserted = await tx.run(sql`
    insert into x402_payments (payer, nonce, org_id, pay_to, units, valid_after, valid_before, signature, state,
      unused_block, gas)
    values (${of.from.toLowerCase()}, ${of.nonce}, ${of.orgId}, ${of.to.toLowerCase()}, ${of.units}, ${of.validAfter},
      ${of.validBefore}, ${of.signature}, 'PLANNED', ${of.unusedBlock}, ${of.gas})
    on conflict (org_id, payer, nonce) do update set pay_to = excluded.pay_to, units = excluded.units,
      valid_after = excluded.valid_after, valid_before = excluded.valid_before,
      signature = excluded.signature, state = 'PLANNED', reason = null, unused_block = excluded.unused_block,
      transaction_id = null, tx_hash = null, gas = excluded.gas, gas_day = excluded.gas_day, retry_at = now(),
      updated_at = now()
    where x402_payments.state = 'FAILED'`);
  return inserted === 1;
}

/** Takes gas from the organisation's day. False if too little is left. */
export async function reserveGas(tx: Tx, orgId: string, gas: bigint, gasPerDay: bigint): Promise<boolean> {
  const reserved = await tx.run(sql`
    insert into x402_gas (org_id, day, gas)
    select ${orgId}, (now() at time zone 'utc')::date, ${gas}::bigint where ${gas}::bigint <= ${gasPerDay}::bigint
    on conflict (org_id, day) do update set gas = x402_gas.gas + excluded.gas
    where x402_gas.gas + excluded.gas <= ${gasPerDay}`);
  return reserved === 1;
}

/** Gas of this day in UTC: of all organisations, and of the one with the most. */
export async function readGasToday(db: Queryable): Promise<{ all: bigint; most: bigint }> {
  return db.one<{ all: bigint; most: bigint }>(sql`
    select coalesce(sum(gas), 0)::bigint as "all", coalesce(max(gas), 0) as "most" from x402_gas
    where day = (now() at time zone 'utc')::date`);
}

export async function findPayment(
  db: Queryable,
  { orgId, from, nonce }: PaymentKey,
): Promise<StoredPayment | undefined> {
  const row = await db.maybe<PaymentRow>(sql`
    select ${COLUMNS} from ${PAYMENTS}
    where p.org_id = ${orgId} and p.payer = ${from.toLowerCase()} and p.nonce = ${nonce}`);
  return row && toPayment(row);
}

/** A payment that may be sent, and what its payer's earlier payments will still take. */
export interface PlannedPayment extends Payment {
  unminedUnits: bigint;
}

export async function listPlannedPayments(db: Queryable, limit: number): Promise<PlannedPayment[]> {
  const rows = await db.query<PaymentRow & { unmined_units: bigint }>(sql`
    select ${COLUMNS}, (
      select coalesce(sum(other.units), 0) from x402_payments other join transactions sent using (transaction_id)
      where other.payer = p.payer and other.state = 'IN_FLIGHT' and sent.state in ('SIGNED', 'SENT')) as unmined_units
    from ${PAYMENTS} where p.state = 'PLANNED' and p.retry_at <= now() order by p.retry_at limit ${limit}`);
  return rows.map((row) => ({ ...toPayment(row), unminedUnits: row.unmined_units }));
}

/** How many payments are signed and in no block. */
export async function countUnminedPayments(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: bigint }>(sql`
    select count(*) from x402_payments join transactions t using (transaction_id)
    where x402_payments.state = 'IN_FLIGHT' and t.state in ('SIGNED', 'SENT')`);
  return Number(count);
}

export async function markPaymentInFlight(
  tx: Tx,
  key: PaymentKey,
  transactionId: bigint,
  txHash: string,
): Promise<boolean> {
  const changed = await tx.run(sql`
    update x402_payments set state = 'IN_FLIGHT', transaction_id = ${transactionId}, tx_hash = ${txHash}, reason = null,
      updated_at = now()
    where ${named(key)} and state = 'PLANNED'`);
  return changed === 1;
}

export async function postponePayment(
  db: Queryable,
  key: PaymentKey,
  reason: string,
  delayMs: number,
): Promise<void> {
  await db.run(sql`
    update x402_payments set reason = ${reason}, retry_at = now() + make_interval(secs => ${delayMs / 1000}),
      updated_at = now()
    where ${named(key)} and state = 'PLANNED'`);
}

/** Ends a payment that is in no transaction, and gives its gas back. */
export async function failPlannedPayment(tx: Tx, key: PaymentKey, reason: string): Promise<void> {
  const failed = await tx.run(sql`
    update x402_payments set state = 'FAILED', reason = ${reason}, updated_at = now()
    where ${named(key)} and state = 'PLANNED'`);
  if (failed === 1) await chargeGas(tx, named(key), 0n);
}

/** Plans the payment of a transaction again: the sender no longer carries it. */
export async function releasePayment(tx: Tx, transactionId: bigint): Promise<void> {
  await tx.run(sql`
    update x402_payments set state = 'PLANNED', transaction_id = null, tx_hash = null,
      retry_at = now() + interval '1 second', updated_at = now()
    where transaction_id = ${transactionId} and state = 'IN_FLIGHT'`);
}

/** The transaction of a payment is final. A payment whose money has moved is CONFIRMED before. */
export async function closePayment(
  tx: Tx,
  { transactionId, gasUsed }: { transactionId: bigint; gasUsed: bigint },
): Promise<void> {
  await chargeGas(tx, sql`transaction_id = ${transactionId}`, gasUsed);
  await tx.run(sql`
    update x402_payments set state = 'FAILED', reason = ${REASONS.failed}, updated_at = now()
    where transaction_id = ${transactionId} and state = 'IN_FLIGHT'`);
}

/** The use of an authorization in a final block. Without a movement it was cancelled. */
export interface Use {
  payer: string;
  nonce: string;
  txHash: string;
  moved: { to: string; units: bigint } | null;
}

/** CONFIRMED when the use moved the payment's money; else the payment can never be made. */
export async function confirmUsedPayments(tx: Tx, uses: Use[]): Promise<void> {
  const changed = await tx.write<{
    org_id: string;
    payer: string;
    nonce: string;
    transaction_id: bigint | null;
  }>(sql`
    with used as (
      select * from unnest(
        ${uses.map((use) => use.payer)}::text[], ${uses.map((use) => use.nonce)}::text[],
        ${uses.map((use) => use.txHash)}::text[], ${uses.map(({ moved }) => moved?.to ?? null)}::text[],
        ${uses.map(({ moved }) => moved?.units ?? null)}::numeric[])
        as given (payer, nonce, tx_hash, to_address, units))
    update x402_payments p set updated_at = now(),
      state = case when p.pay_to = used.to_address and p.units = used.units then 'CONFIRMED' else 'FAILED' end,
      tx_hash = case when p.pay_to = used.to_address and p.units = used.units then used.tx_hash else p.tx_hash end,
      reason = case when p.pay_to = used.to_address and p.units = used.units then null else ${REASONS.nonceUsed} end
    from used where p.payer = used.payer and p.nonce = used.nonce and p.state <> 'CONFIRMED'
    returning p.org_id, p.payer, p.nonce, p.transaction_id`);
  for (const { org_id: orgId, payer: from, nonce, transaction_id: sent } of changed)
    if (sent === null) await chargeGas(tx, named({ orgId, from, nonce }), 0n);
}

/** Replaces the reserved gas of a payment with the used gas. */
async function chargeGas(tx: Tx, payment: Sql, used: bigint): Promise<void> {
  await tx.run(sql`
    with before as (select org_id, gas_day, gas from x402_payments where ${payment}),
    changed as (update x402_payments set gas = ${used} where ${payment})
    update x402_gas g set gas = g.gas - before.gas + ${used}
    from before where g.org_id = before.org_id and g.day = before.gas_day`);
}

function named({ orgId, from, nonce }: PaymentKey): Sql {
  return sql`org_id = ${orgId} and payer = ${from.toLowerCase()} and nonce = ${nonce}`;
}

function toPayment(row: PaymentRow): StoredPayment {
  return {
    ...{ orgId: row.org_id, from: row.payer, to: row.pay_to, units: row.units, nonce: row.nonce },
    ...{ validAfter: row.valid_after, validBefore: row.valid_before, signature: row.signature },
    ...{ state: row.state, reason: row.reason, txHash: row.tx_hash, isMined: row.is_mined },
    unusedBlock: row.unused_block,
  };
}
