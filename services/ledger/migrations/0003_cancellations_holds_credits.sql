-- How much of a charge is cancelled. The first part of a cancellation inserts the row.
create table cancelled_charges (
  org_id uuid not null,
  charge_id uuid not null,
  amount_won bigint not null,
  cancelled_won bigint not null,
  constraint cancelled_charges_key primary key (org_id, charge_id),
  constraint cancelled_charges_at_most_the_charge check (cancelled_won > 0 and cancelled_won <= amount_won)
);

-- A payment is cancelled at most once.
create table cancelled_payments (
  org_id uuid not null,
  payment_id uuid not null,
  cancel_id uuid not null,
  constraint cancelled_payments_key primary key (org_id, payment_id)
);

-- How much of a payment is refunded in parts. The first part inserts the row.
create table refunded_payments (
  org_id uuid not null,
  payment_id uuid not null,
  amount_won bigint not null,
  refunded_won bigint not null,
  constraint refunded_payments_key primary key (org_id, payment_id),
  constraint refunded_payments_at_most_the_payment check (refunded_won > 0 and refunded_won <= amount_won)
);

-- Money of a wallet that is held for an outside address: open, then posted or voided, once.
create table holds (
  org_id uuid not null,
  id uuid not null,
  request_prefix text not null,
  account_number bigint not null,
  amount_won bigint not null,
  to_address text not null,
  -- The day of Asia/Seoul whose limit it used, counted from 1970.
  limit_day integer not null,
  -- Sequence of the account's newest posting before the hold.
  sequence bigint not null,
  state text not null,
  placed_at timestamptz not null,
  settled_at timestamptz,
  constraint holds_key primary key (org_id, id),
  constraint holds_amount_positive check (amount_won > 0),
  constraint holds_state_known check (state in ('open', 'posted', 'voided')),
  constraint holds_settled_once check ((state = 'open') = (settled_at is null))
);
create index holds_open on holds (account_number) where state = 'open';

-- Each log of the chain is credited once, under any request id.
create table credits (
  org_id uuid not null,
  chain_log_id text not null,
  entry_id uuid not null,
  constraint credits_key primary key (org_id, chain_log_id)
);
