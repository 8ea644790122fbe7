import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";
import { type Place } from "../domain/planning";
import { type OperationKey } from "./operations";

/**
 * Keeps the planner from moving the heads until this transaction ends: it locks its signer's row, as every release has, before it touches them.
 * False when it is at them or waits for them, which is not waited for, or when there has never been one. A lease is kept meanwhile.
 */
export async function holdHeads(tx: Tx): Promise<boolean> {
  const { held } = await tx.one<{ held: boolean }>(
    named(
      "hold_heads",
      sql`
        with turn as materialized (
          select pg_try_advisory_xact_lock_shared(hashtext('heads'), hashtext(current_schema())) as free),
        held as (select from signers where (select free from turn) for key share skip locked)
        select (select count(*) from held) = count(*) and count(*) > 0 as held from signers`,
    ),
  );
  return held;
}

/** Sorts in what came in while the heads could not be held. Only the one planner touches the heads. */
export async function sortInFresh(tx: Tx, limit: number): Promise<number> {
  return tx.run(sql`
    with fresh as (
      (select org_id, ledger_ref from operations where state = 'WAITING' and blocked is null order by created_at limit ${limit})
      union all
      (select org_id, ledger_ref from operations where state = 'CONFIRMED' and turn is null and blocked is null limit ${limit})),
    placed as (select p.* from places p join fresh using (org_id, ledger_ref)),
    begun as (
      insert into account_heads (org_id, account_id) select distinct org_id, account_id from placed on conflict do nothing),
    counted as (
      select fresh.org_id, fresh.ledger_ref,
        count(*) filter (where placed.at_sequence > coalesce(h.next_sequence, 1))::integer as blocked
      from fresh left join placed using (org_id, ledger_ref) left join account_heads h using (org_id, account_id)
      group by fresh.org_id, fresh.ledger_ref)
    update operations o set blocked = counted.blocked
    from counted where o.org_id = counted.org_id and o.ledger_ref = counted.ledger_ref`);
}

/** The places of these operations, by "organisation|reference", and where the heads of those accounts are. */
export async function findPlaces(
  db: Queryable,
  operations: OperationKey[],
): Promise<{ places: Map<string, Place[]>; heads: Map<string, bigint> }> {
  const rows = await db.query<{
    org_id: string;
    ledger_ref: string;
    account_id: string;
    at_sequence: bigint;
    moves_to: bigint | null;
    next_sequence: bigint;
  }>(sql`
    select p.org_id, p.ledger_ref, p.account_id, p.at_sequence, p.moves_to, h.next_sequence
    from unnest(${operations.map((operation) => operation.orgId)}::text[], ${operations.map((operation) => operation.ledgerRef)}::text[])
      as wanted (org_id, ledger_ref)
    -- By the index, for each: the whole table is read otherwise, as long as it is small enough for that to look cheap.
    cross join lateral (
      select * from places where places.org_id = wanted.org_id and places.ledger_ref = wanted.ledger_ref offset 0) as p
    join account_heads h on h.org_id = p.org_id and h.account_id = p.account_id`);
  const places = new Map<string, Place[]>();
  for (const row of rows) {
    const key = `${row.org_id}|${row.ledger_ref}`;
    const place = { accountId: row.account_id, atSequence: row.at_sequence, movesTo: row.moves_to };
    const known = places.get(key);
    if (known) known.push(place);
    else places.set(key, [place]);
  }
  return { places, heads: new Map(rows.map((row) => [row.account_id, row.next_sequence])) };
}

/** Moves heads on, never back, and tells those that waited for it. */
export async function moveHeads(
  tx: Tx,
  heads: { orgId: string; accountId: string; nextSequence: bigint }[],
): Promise<void> {
  if (heads.length === 0) return;
  await tx.run(sql`
    with moved as (
      select h.org_id, h.account_id, h.next_sequence as before, target.next_sequence as after
      from account_heads h
      join unnest(${heads.map((head) => head.orgId)}::text[], ${heads.map((head) => head.accountId)}::text[],
        ${heads.map((head) => head.nextSequence)}::bigint[]) as target (org_id, account_id, next_sequence)
        using (org_id, account_id)),
    heads as (
      update account_heads h set next_sequence = greatest(h.next_sequence, moved.after)
      from moved where h.org_id = moved.org_id and h.account_id = moved.account_id),
    freed as (
      select p.org_id, p.ledger_ref, count(*)::integer as places
      from moved join places p on p.org_id = moved.org_id and p.account_id = moved.account_id
        and p.at_sequence > moved.before and p.at_sequence <= moved.after
      group by p.org_id, p.ledger_ref)
    update operations o set blocked = o.blocked - freed.places
    from freed
    where o.org_id = freed.org_id and o.ledger_ref = freed.ledger_ref and o.state = 'WAITING' and o.blocked is not null`);
}
