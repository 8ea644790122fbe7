-- Rebuilds of the records that operators asked for. At most one is open, and the service's job works on it.
create table rebuilds (
  id bigint generated always as identity primary key,
  operator text not null,
  asked_at timestamptz not null default now(),
  -- NEXT: looks for the organisation after org_id. MARK: marks its rows as not confirmed. REPLAY: writes the records of its
  -- journal. SWEEP: deletes the rows that its journal did not confirm. SETTLE: writes the settlements that chain-relayer
  -- lists. SWEEP_SETTLED: deletes the settlements that chain-relayer did not list.
  phase text not null default 'NEXT'
    check (phase in ('NEXT', 'MARK', 'REPLAY', 'SWEEP', 'SETTLE', 'SWEEP_SETTLED')),
  org_id text not null default '',
  -- The phase MARK stores the table in hand and the last id that it read. SETTLE stores the last id.
  table_index integer not null default 0,
  after_id text not null default '',
  -- The oldest sequence that the ledger keeps of the organisation, and the sequence up to which it was replayed.
  oldest_sequence bigint not null default 0,
  after_sequence bigint not null default 0,
  -- Progress: organisations that are done, entries that were replayed, settlements that were read.
  organisations bigint not null default 0,
  entries bigint not null default 0,
  settlements bigint not null default 0,
  -- Grows with every step, so that of two replicas only one takes a step.
  step bigint not null default 0,
  finished_at timestamptz
);
create unique index rebuilds_open on rebuilds ((true)) where finished_at is null;
