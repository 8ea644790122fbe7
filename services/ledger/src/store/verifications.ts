import { sql, type Queryable } from "@wonrail/kit/db";

/** The result of the last finished verification of a scope. */
export interface Verification {
  scope: "accounts" | "journal";
  finishedAt: Date;
  violations: number;
  brokenInvariants: string[];
}

export async function saveVerification(
  db: Queryable,
  { scope, violations, brokenInvariants }: Omit<Verification, "finishedAt">,
): Promise<void> {
  await db.run(sql`
    insert into verifications (scope, finished_at, violations, broken_invariants)
    values (${scope}, now(), ${violations}, ${brokenInvariants}::text[])
    on conflict (scope) do update set finished_at = excluded.finished_at, violations = excluded.violations,
      broken_invariants = excluded.broken_invariants`);
}

export function listVerifications(db: Queryable): Promise<Verification[]> {
  return db.query<Verification>(sql`
    select scope, finished_at as "finishedAt", violations, broken_invariants as "brokenInvariants"
    from verifications order by scope`);
}
