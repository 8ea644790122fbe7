import { named, type Queryable, sql, type Tx } from "@wonrail/kit/db";

/** Locks the organisations in id order and returns the sequence of each one's newest event. */
export async function lockOrganisations(tx: Tx, orgIds: string[]): Promise<Map<string, bigint>> {
  const sorted = [...orgIds].sort();
  tx.push(
    named(
      "organisations_add",
      sql`insert into organisations (org_id) select unnest(${sorted}::text[]) on conflict do nothing`,
    ),
  );
  const rows = await tx.query<{ org_id: string; last_sequence: bigint }>(
    named(
      "organisations_lock",
      sql`
        select org_id, last_sequence from organisations where org_id = any(${sorted}::text[])
        order by org_id for update`,
    ),
  );
  return new Map(rows.map((row) => [row.org_id, row.last_sequence]));
}

export function saveSequences(tx: Tx, sequences: Map<string, bigint>): void {
  tx.push(
    named(
      "organisations_save",
      sql`
        update organisations set last_sequence = saved.last_sequence
        from unnest(${[...sequences.keys()]}::text[], ${[...sequences.values()]}::bigint[])
          as saved (org_id, last_sequence)
        where organisations.org_id = saved.org_id and organisations.last_sequence < saved.last_sequence`,
    ),
  );
}

/** The sequence of the newest event; 0 before the first. */
export async function findLastSequence(db: Queryable, orgId: string): Promise<bigint> {
  const row = await db.maybe<{ last_sequence: bigint }>(
    sql`select last_sequence from organisations where org_id = ${orgId}`,
  );
  return row?.last_sequence ?? 0n;
}
