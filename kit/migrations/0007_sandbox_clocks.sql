-- How far the organisations' test clocks are ahead of the real time. A row counts from its time on,
-- so the clock's time of each earlier moment stays known. Empty on a main network.
create table sandbox_clocks (
  org_id text not null,
  offset_ms bigint not null,
  advanced_at timestamptz not null default clock_timestamp(),
  primary key (org_id, offset_ms),
  constraint sandbox_clocks_offset_positive check (offset_ms > 0)
);
