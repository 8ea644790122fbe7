-- One token bucket for each organisation, from which gateways draw leases. Thousandths of a token: at 7 tokens a second a
-- millisecond is worth exactly 7 of them. Unlogged: after a crash of Postgres every bucket is full, which costs one burst.
create unlogged table rate_buckets (
  org_id uuid primary key,
  millitokens bigint not null,
  refilled_at timestamptz not null,
  constraint rate_buckets_not_negative check (millitokens >= 0)
);
