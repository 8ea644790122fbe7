import { type Queryable, type Sql, sql, type Tx } from "@wonrail/kit/db";

/** The account that counts all tokens there are. */
export const SUPPLY = "supply";

/** Effect of a final log on a wallet's balance or the supply. */
export interface Movement {
  txHash: string;
  logIndex: number;
  accountId: string;
  /** Empty: of no organisation's operations. */
  orgId: string;
  units: bigint;
}

/** Adds new movements only. */
export async function addMovements(tx: Tx, movements: Movement[]): Promise<void> {
  if (movements.length === 0) return;
  await tx.run(sql`
    with inserted as (
      insert into movements (tx_hash, log_index, account_id, org_id, units)
      select * from unnest(
        ${movements.map((one) => one.txHash)}::text[],
        ${movements.map((one) => one.logIndex)}::integer[],
        ${movements.map((one) => one.accountId)}::text[],
        ${movements.map((one) => one.orgId)}::text[],
        ${movements.map((one) => one.units)}::numeric[])
      on conflict do nothing
      returning org_id, account_id, units)
    insert into settled_balances (org_id, account_id, units)
    select org_id, account_id, sum(units) from inserted group by 1, 2 order by 1, 2
    on conflict (org_id, account_id) do update set units = settled_balances.units + excluded.units`);
}

/** Expected chain balance of a wallet, and the part that the ledger should have. */
export interface WalletBook {
  orgId: string;
  walletId: string;
  address: string;
  units: bigint;
}

/** All wallets in the order of their ids, a page at a time. */
export async function listWalletBooks(
  db: Queryable,
  afterWalletId: string,
  limit: number,
): Promise<WalletBook[]> {
  const rows = await db.query<{ org_id: string; wallet_id: string; address: string; units: bigint }>(sql`
    select w.org_id, w.wallet_id, w.address, coalesce(b.units, 0) as units
    from wallet_addresses w left join settled_balances b on b.org_id = w.org_id and b.account_id = w.wallet_id
    where w.wallet_id > ${afterWalletId} order by w.wallet_id limit ${limit}`);
  return rows.map((row) => ({
    orgId: row.org_id,
    walletId: row.wallet_id,
    address: row.address,
    units: row.units,
  }));
}

/** The balance of a wallet that the read transfers explain. */
export async function findSettledBalance(
  db: Queryable,
  orgId: string,
  walletId: string,
): Promise<{ units: bigint; unbookedUnits: bigint }> {
  const row = await db.maybe<{ units: bigint; unbookedUnits: bigint }>(sql`
    select units, unbooked_units as "unbookedUnits" from settled_balances
    where org_id = ${orgId} and account_id = ${walletId}`);
  return row ?? { units: 0n, unbookedUnits: 0n };
}

export async function sumSupply(db: Queryable): Promise<bigint> {
  const { units } = await db.one<{ units: bigint }>(
    sql`select coalesce(sum(units), 0) as units from settled_balances where account_id = ${SUPPLY}`,
  );
  return units;
}

/** Expected ledger balance of a wallet. */
export interface ExpectedBalance {
  walletId: string;
  units: bigint;
  /** The newest line of the ledger that was pulled. Later lines are on their way. */
  sequence: bigint;
  /** Part of it is on the chain. */
  isFunded: boolean;
}

/** How many of an organisation's wallets have something on the chain. */
export async function countFunded(db: Queryable, orgId: string): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*)::integer as count from settled_balances where org_id = ${orgId} and units <> 0 and account_id <> ${SUPPLY}`);
  return count;
}

/** Wallets after this one, in id order. */
export async function listFunded(
  db: Queryable,
  orgId: string,
  afterWalletId: string,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ account_id: string }>(sql`
    select account_id from settled_balances
    where org_id = ${orgId} and account_id > ${afterWalletId} and units <> 0 and account_id <> ${SUPPLY}
    order by account_id limit ${limit}`);
  return rows.map((row) => row.account_id);
}

/**
 * Expected ledger balances: settled on the chain, less unbooked deposits, plus open lines. Exact up
 * to the named line.
 */
export async function listExpectedBalances(
  db: Queryable,
  orgId: string,
  walletIds: string[],
): Promise<Map<string, ExpectedBalance>> {
  const rows = await db.query<{
    wallet_id: string;
    units: bigint;
    sequence: bigint;
    is_funded: boolean;
  }>(sql`
    with wanted as (select wallet_id from unnest(${walletIds}::text[]) as wanted (wallet_id)),
    unsettled as (
      select side.account_id, sum(side.amount_won) * 1000000 as units
      from ${openSteps(orgId)}
      cross join lateral (values (from_wallet_id, -amount_won), (to_wallet_id, amount_won)) as side (account_id, amount_won)
      where side.account_id is not null group by side.account_id),
    -- A deposit counts as booked once its entry was pulled, even before the ledger's answer.
    booked as (
      select d.wallet_id, sum(d.units - d.remainder_units) as units
      from deposits d join operations o on o.org_id = d.org_id and o.ledger_ref = d.ledger_ref
      where d.state = 'SEEN' and d.org_id = ${orgId} group by d.wallet_id),
    -- Paid out on the chain. payment captures the hold in the ledger, within a day at most.
    leaving as (
      select h.from_wallets[1] as wallet_id, sum((h.steps -> 0 ->> 'amountWon')::numeric * 1000000) as units
      from operations h
      where h.org_id = ${orgId} and h.kind = 'INTENT_KIND_PLACE_HOLD'
        and (h.state = 'CONFIRMED' and h.updated_at > now() - interval '1 day'
          or h.state in ('WAITING', 'PLANNED', 'IN_FLIGHT') and exists (
            select from used_authorizations u
            where u.from_wallet_id = h.from_wallets[1] and u.nonce = h.steps -> 0 ->> 'nonce'))
        and not exists (
          select from operations p where p.org_id = h.org_id and p.related_id = h.ledger_ref and p.kind = 'INTENT_KIND_POST_HOLD')
      group by 1)
    select wanted.wallet_id,
      coalesce(b.units, 0) - coalesce(b.unbooked_units, 0) + coalesce(booked.units, 0) + coalesce(unsettled.units, 0)
        + coalesce(leaving.units, 0) as units,
      coalesce(pulled.last_sequence, 0) as sequence,
      coalesce(b.units, 0) <> 0 as is_funded
    from wanted
    left join settled_balances b on b.org_id = ${orgId} and b.account_id = wanted.wallet_id
    left join booked using (wallet_id)
    left join leaving using (wallet_id)
    left join unsettled on unsettled.account_id = wanted.wallet_id
    left join wallet_sequences pulled on pulled.org_id = ${orgId} and pulled.wallet_id = wanted.wallet_id`);
  return new Map(
    rows.map((row) => [
      row.wallet_id,
      {
        walletId: row.wallet_id,
        units: row.units,
        sequence: row.sequence,
        isFunded: row.is_funded,
      },
    ]),
  );
}

/** Expected money supply of an organisation: minted less burned, including open operations. */
export async function expectedSupply(db: Queryable, orgId: string): Promise<bigint> {
  const { units } = await db.one<{ units: bigint }>(sql`
    select coalesce((select units from settled_balances where org_id = ${orgId} and account_id = ${SUPPLY}), 0)
      + coalesce((
        select sum(case kind when 'MINT' then amount_won when 'BURN' then -amount_won end) * 1000000
        from ${openSteps(orgId)}), 0) as units`);
  return units;
}

/**
 * Remaining steps of open operations. A leg with a used authorization is done, whoever submitted
 * it; so is an operation that was executed before this database knew it.
 */
function openSteps(orgId: string): Sql {
  return sql`(
    select step.kind, step."fromWalletId" as from_wallet_id, step."toWalletId" as to_wallet_id, step."amountWon" as amount_won
    from operations o
    cross join lateral jsonb_to_recordset(o.steps)
      as step (kind text, "fromWalletId" text, "toWalletId" text, "amountWon" bigint, nonce text)
    where o.org_id = ${orgId} and o.state in ('WAITING', 'PLANNED', 'IN_FLIGHT') and o.kind <> 'INTENT_KIND_PLACE_HOLD'
      and (step."fromWalletId" is null or not exists (
        select from used_authorizations u where u.from_wallet_id = step."fromWalletId" and u.nonce = step.nonce))
      and not exists (
        select from drifts d
        where d.org_id = '' and d.wallet_id = '' and d.kind = 'UNKNOWN_OPERATION' and d.subject = o.operation_id)) as open_steps`;
}
