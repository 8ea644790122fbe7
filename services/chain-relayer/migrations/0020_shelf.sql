-- Entries of which far more wait than can be settled soon, as the bus has brought them: in one row those of an organisation that came together. They become
-- operations, the oldest first, when their lane has little else to plan.
create table shelved_entries (
  shelf_id bigint generated always as identity primary key,
  org_id text not null,
  -- A wonrail.common.v1.EventEnvelopes.
  events bytea not null,
  entries integer not null check (entries > 0),
  shelved_at timestamptz not null default now()
);
create index shelved_entries_of_lane on shelved_entries (org_id, shelf_id);
-- When a lane was last given something of its shelf: the one that has waited longest for it is next.
alter table lanes add column fed_at timestamptz not null default now();
