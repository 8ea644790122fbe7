-- Restores of the databases. At most one is under way: from its preparation until an operator lets
-- settlement go on.
create table restores (
  restore_id bigint generated always as identity primary key,
  prepared_at timestamptz not null default now(),
  prepared_by text not null,
  reason text not null,
  -- The chain's newest final block at that time. The books must be compared up to it.
  final_block bigint not null,
  resumed_at timestamptz
);
create unique index restores_under_way on restores ((resumed_at is null)) where resumed_at is null;
