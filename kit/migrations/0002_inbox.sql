-- One row for each event that a consumer group has had its effect of, written in the same transaction as the effect.
-- Kept for longer than the bus keeps messages; event ids sort by time, so new rows meet at one end of the index.
create table inbox (
  consumer_group text not null,
  event_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (consumer_group, event_id)
);
