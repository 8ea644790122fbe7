import { sql, type Tx } from "@wonrail/kit/db";
import { type Operation } from "./operations";

/** Where an operation stands on an account. */
export interface Place {
  accountId: string;
  /** The head must have come to here. */
  atSequence: bigint;
  /** Where the operation leaves the head; null when it only waits. */
  movesTo: bigint | null;
}

/** Takes an operation's places on its accounts and says on how many of them something must go before it. Locks the heads, in one order. */
export async function insertPlaces(
  tx: Tx,
  { orgId, ledgerRef }: Pick<Operation, "orgId" | "ledgerRef">,
  places: Place[],
): Promise<number> {
  const ordered = [...places].sort((one, other) => (one.accountId < other.accountId ? -1 : 1));
  const accounts = ordered.map((place) => place.accountId);
  await tx.run(sql`
    insert into account_heads (org_id, account_id)
    select ${orgId}, account from unnest(${accounts}::text[]) as account on conflict do nothing`);
  const heads = await tx.query<{ account_id: string; next_sequence: bigint }>(sql`
    select account_id, next_sequence from account_heads
    where org_id = ${orgId} and account_id = any(${accounts}::text[]) order by account_id for update`);
  await tx.run(sql`
    insert into places (org_id, account_id, at_sequence, ledger_ref, moves_to)
    select ${orgId}, account, at, ${ledgerRef}, moves from unnest(
      ${accounts}::text[], ${ordered.map((place) => place.atSequence)}::bigint[], ${ordered.map((place) => place.movesTo)}::bigint[])
      as place (account, at, moves)`);
  const next = new Map(heads.map((head) => [head.account_id, head.next_sequence]));
  return ordered.filter((place) => next.get(place.accountId)! < place.atSequence).length;
}

/** Moves the heads past these operations, and tells those that waited for it. */
export async function movePast(tx: Tx, operations: Pick<Operation, "orgId" | "ledgerRef">[]): Promise<void> {
  const orgIds = operations.map((operation) => operation.orgId);
  const refs = operations.map((operation) => operation.ledgerRef);
  await tx.run(sql`
    select from account_heads h where (h.org_id, h.account_id) in (
      select p.org_id, p.account_id from places p
      join unnest(${orgIds}::text[], ${refs}::text[]) as passed (org_id, ledger_ref) using (org_id, ledger_ref))
    order by h.org_id, h.account_id for update`);
  await tx.run(sql`
    with moved as (
      select p.org_id, p.account_id, max(p.moves_to) as next_sequence
      from places p join unnest(${orgIds}::text[], ${refs}::text[]) as passed (org_id, ledger_ref) using (org_id, ledger_ref)
      where p.moves_to is not null group by p.org_id, p.account_id),
    heads as (
      update account_heads h set next_sequence = m.next_sequence
      from moved m, (select org_id, account_id, next_sequence as before from account_heads) as old
      where h.org_id = m.org_id and h.account_id = m.account_id and old.org_id = h.org_id and old.account_id = h.account_id
      returning h.org_id, h.account_id, old.before, h.next_sequence),
    freed as (
      select p.org_id, p.ledger_ref, count(*)::integer as places
      from places p join heads on p.org_id = heads.org_id and p.account_id = heads.account_id
        and p.at_sequence > heads.before and p.at_sequence <= heads.next_sequence
      group by p.org_id, p.ledger_ref)
    update operations o set blocked = o.blocked - freed.places
    from freed where o.org_id = freed.org_id and o.ledger_ref = freed.ledger_ref and o.state = 'WAITING'`);
}
