-- The feed of this service: events committed together with their rows. A row is written once, read
-- a few times, and pruned after the retention time.
create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  topic text not null,
  type text not null,
  aggregate_id text not null,
  version bigint not null,
  org_id text not null,
  request_id text not null,
  traceparent text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  payload bytea not null
);

-- Committed events that have no number yet. The table is narrow, because marking the wide outbox
-- rows would write each of them a second time.
create table outbox_pending (
  id bigint primary key
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 50000,
  autovacuum_vacuum_cost_delay = 0
);

-- The number of each event in its partition. The active relay assigns the numbers, without gaps.
create table feed_positions (
  partition integer not null,
  number bigint not null,
  outbox_id bigint not null,
  primary key (partition, number)
);

-- Per partition: the last assigned number, and the last one that Kafka acknowledged.
create table feed_heads (
  partition integer primary key,
  number bigint not null default 0,
  published bigint not null default 0
);
