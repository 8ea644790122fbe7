-- Events that were decided together with the rows they tell of. Append-only: a row is written once, read once or twice, and pruned.
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

-- Which of them are not on the bus yet. A narrow table of its own, because marking wide rows as published would write each of them, and
-- both of its index entries, a second time. Eight bytes come and go instead, and finding what is left never looks at what is done.
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
