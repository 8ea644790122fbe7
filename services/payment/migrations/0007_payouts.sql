-- Payouts: many transfers of one wallet, as one request. A job posts the rows to the ledger, which keeps the
-- idempotency key of each row. No other place has these rows: a rebuild of the records keeps them.
create table payouts (
  org_id text not null,
  payout_id text not null,
  mode text not null check (mode in ('ATOMIC', 'BEST_EFFORT')),
  dry_run boolean not null,
  from_wallet_id text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'COMPLETED', 'REFUSED')),
  total_won bigint not null check (total_won > 0),
  row_count integer not null check (row_count between 1 and 10000),
  accepted_count integer not null default 0,
  refused_count integer not null default 0,
  skipped_count integer not null default 0,
  accepted_won bigint not null default 0,
  -- The key of the request that made the payout, and the hash of its body.
  idempotency_key text,
  body_hash bytea,
  created_at timestamptz not null,
  completed_at timestamptz,
  -- The end of the lease of the replica that posts the rows. Two replicas would get the same outcomes.
  leased_until timestamptz not null default '-infinity',
  primary key (org_id, payout_id),
  constraint payouts_ended_when_decided check (
    (status = 'PENDING') = (completed_at is null)
    and (status = 'PENDING' or accepted_count + refused_count + skipped_count = row_count)),
  constraint payouts_atomic_all_or_none check (mode <> 'ATOMIC' or accepted_count in (0, row_count))
);
create unique index payouts_key on payouts (org_id, idempotency_key) where idempotency_key is not null;
-- Operators search for a payout of any organisation.
create index payouts_by_id on payouts (payout_id);
create index payouts_pending on payouts (leased_until) where status = 'PENDING';

create table payout_rows (
  org_id text not null,
  payout_id text not null,
  -- From 0, in the order of the request.
  row_index integer not null,
  to_wallet_address text not null,
  amount_won bigint not null check (amount_won > 0),
  memo text,
  reference text,
  metadata jsonb,
  -- The partner's own key of the row.
  idempotency_key text,
  status text not null default 'PENDING' check (status in ('PENDING', 'ACCEPTED', 'REFUSED', 'SKIPPED')),
  transfer_id text,
  -- Why the row is REFUSED. A PENDING row with a code will be refused with it, for the sandbox.
  error_code text,
  error_details jsonb,
  primary key (org_id, payout_id, row_index),
  foreign key (org_id, payout_id) references payouts
);
create index payout_rows_pending on payout_rows (org_id, payout_id, row_index) where status = 'PENDING';
