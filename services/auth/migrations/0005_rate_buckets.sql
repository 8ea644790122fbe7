-- One token bucket for each organisation, from which gateways draw leases. It counts thousandths of
-- a token: at 7 tokens a second each millisecond adds exactly 7. Unlogged: a crash of PostgreSQL
-- fills every bucket, which costs one burst.
create unlogged table rate_buckets (
  org_id uuid primary key,
  millitokens bigint not null,
  refilled_at timestamptz not null,
  constraint rate_buckets_not_negative check (millitokens >= 0)
);
