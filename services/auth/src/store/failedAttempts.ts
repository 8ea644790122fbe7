import { sql, type Queryable } from "@wonrail/kit/db";
import { type FailureCount, type FailureSubject, type SubjectKind } from "../domain/throttle";

/** Returns counts with an open window, and the time that decides on them. */
export async function findFailures(
  db: Queryable,
  subjects: FailureSubject[],
): Promise<{ counts: FailureCount[]; now: Date }> {
  const rows = await db.query<FailureRow & { now: Date }>(sql`
    select f.subject_kind, f.subject, f.failures, f.window_ends_at, t.now
    from (select clock_timestamp() as now) t
    left join failed_attempts f on f.window_ends_at > t.now and (f.subject_kind, f.subject) in (
      select * from unnest(${kinds(subjects)}, ${names(subjects)}))`);
  return { counts: rows.filter((row) => row.subject !== null).map(fromRow), now: rows[0]!.now };
}

/** Adds to the open windows of these subjects. A window that has ended starts again. Locks in order of the key. */
export async function addFailures(db: Queryable, added: FailureCount[]): Promise<void> {
  const failures = sql.array(
    added.map((count) => count.failures),
    "integer[]",
  );
  const ends = sql.array(
    added.map(({ windowEndsAt }) => windowEndsAt),
    "timestamptz[]",
  );
  await db.run(sql`
    insert into failed_attempts as f (subject_kind, subject, failures, window_ends_at)
    select kind, name, failures, ends_at
    from unnest(${kinds(added)}, ${names(added)}, ${failures}, ${ends}) as given (kind, name, failures, ends_at)
    order by kind, name
    on conflict (subject_kind, subject) do update set
      failures = case when f.window_ends_at > clock_timestamp()
        then least(f.failures + excluded.failures, 1000000) else excluded.failures end,
      window_ends_at = case when f.window_ends_at > clock_timestamp()
        then f.window_ends_at else excluded.window_ends_at end`);
}

/** `now()` instead of `clock_timestamp()`: PostgreSQL uses the index only for a stable time. */
export async function deleteEndedFailures(db: Queryable, limit: number): Promise<number> {
  return db.run(sql`
    delete from failed_attempts where (subject_kind, subject) in (
      select subject_kind, subject from failed_attempts where window_ends_at <= now()
      limit ${limit} for update skip locked)`);
}

interface FailureRow {
  subject_kind: SubjectKind;
  subject: string;
  failures: number;
  window_ends_at: Date;
}

function fromRow(row: FailureRow): FailureCount {
  return {
    kind: row.subject_kind,
    name: row.subject,
    failures: row.failures,
    windowEndsAt: row.window_ends_at,
  };
}

function kinds(subjects: FailureSubject[]) {
  return sql.array(
    subjects.map(({ kind }) => kind),
    "text[]",
  );
}

function names(subjects: FailureSubject[]) {
  return sql.array(
    subjects.map(({ name }) => name),
    "text[]",
  );
}
