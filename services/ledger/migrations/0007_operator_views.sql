-- Sums and results for operators. To compute them again would read the whole journal.

-- Entries and moved money of each minute, by the time in the request's id. The job count_traffic
-- writes a row for every minute, also for one without entries, and keeps two days.
create table traffic_minutes (
  minute timestamptz primary key,
  entries bigint not null,
  -- The sum of all amounts that came into an account.
  moved_won bigint not null
);

-- The last finished verification of each scope.
create table verifications (
  scope text primary key,
  finished_at timestamptz not null,
  violations integer not null,
  broken_invariants text[] not null,
  constraint verifications_scope_known check (scope in ('accounts', 'journal')),
  constraint verifications_violations_named check ((violations = 0) = (cardinality(broken_invariants) = 0))
);
