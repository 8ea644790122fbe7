-- Wrong secrets, counted per key and per address, shared by all replicas. Unlogged: a crash costs
-- only a minute's counts, and a flood of wrong secrets must not become a flood of fsyncs.
create unlogged table failed_attempts (
  subject_kind text not null,
  subject text not null,
  failures integer not null,
  window_ends_at timestamptz not null,
  primary key (subject_kind, subject),
  constraint failed_attempts_kind_known check (subject_kind in ('ADDRESS', 'KEY'))
);

create index failed_attempts_ended on failed_attempts (window_ends_at);
