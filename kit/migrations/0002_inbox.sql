-- The events that each consumer group has handled. The transaction of the effect writes the row.
-- Rows are kept for longer than any feed keeps events. Event ids sort by time, so new rows share the
-- last pages of the index.
create table inbox (
  consumer_group text not null,
  event_id uuid not null,
  received_at timestamptz not null default now(),
  primary key (consumer_group, event_id)
);

-- How far a consumer group has read each partition of a feed. The number moves in the transaction of
-- the effects. The event's id shows whether the producer still has the same event at that number.
create table feed_cursors (
  consumer_group text not null,
  topic text not null,
  partition integer not null,
  number bigint not null default 0,
  event_id uuid,
  moved_at timestamptz not null default now(),
  primary key (consumer_group, topic, partition)
) with (fillfactor = 50);

-- The replica that reads a feed for a consumer group. Another replica takes over when the lease ends.
create table feed_readers (
  consumer_group text not null,
  topic text not null,
  holder text not null,
  leased_until timestamptz not null,
  primary key (consumer_group, topic)
) with (fillfactor = 50);
