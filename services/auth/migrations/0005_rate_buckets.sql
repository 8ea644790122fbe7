-- The token buckets of the organisations, from which gateways draw leases. The unit is a
-- millitoken: at 7 tokens a second each millisecond adds exactly 7 of them.
-- Unlogged: a crash of PostgreSQL fills every bucket, and that costs a burst.
create unlogged table rate_buckets (
  org_id uuid primary key,
  millitokens bigint not null,
  refilled_at timestamptz not null,
  constraint rate_buckets_not_negative check (millitokens >= 0)
);
