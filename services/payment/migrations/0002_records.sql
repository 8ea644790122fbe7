create table transfers (
  org_id text not null,
  transfer_id text not null,
  status text not null check (status in ('PENDING', 'COMPLETED', 'FAILED')),
  from_wallet_id text not null,
  to_wallet_address text not null,
  to_wallet_id text,
  amount_won bigint not null check (amount_won > 0),
  memo text,
  failure_reason text,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null default now(),
  primary key (org_id, transfer_id)
);
create index transfers_from on transfers (org_id, from_wallet_id, transfer_id);
create index transfers_to on transfers (org_id, to_wallet_id, transfer_id) where to_wallet_id is not null;
create index transfers_pending on transfers (updated_at) where status = 'PENDING';

create table charges (
  org_id text not null,
  charge_id text not null,
  wallet_id text not null,
  amount_won bigint not null check (amount_won >= 1000),
  cancelled_won bigint not null default 0,
  balance_won bigint not null,
  memo text,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null default now(),
  primary key (org_id, charge_id),
  -- The ledger decides; this is the second lock on the same door.
  constraint charges_not_over_cancelled check (cancelled_won between 0 and amount_won)
);
create index charges_of_wallet on charges (org_id, wallet_id, charge_id);

create table charge_cancels (
  org_id text not null,
  cancel_id text not null,
  charge_id text not null,
  amount_won bigint not null check (amount_won > 0),
  memo text,
  created_at timestamptz not null,
  primary key (org_id, cancel_id)
);
create index charge_cancels_of_charge on charge_cancels (org_id, charge_id);

create table refunds (
  org_id text not null,
  refund_id text not null,
  wallet_id text not null,
  amount_won bigint not null check (amount_won > 0),
  memo text,
  created_at timestamptz not null,
  primary key (org_id, refund_id)
);

create table payments (
  org_id text not null,
  payment_id text not null,
  status text not null check (status in ('PAID', 'CANCELLED')),
  payer_wallet_id text not null,
  receiver_wallet_id text not null,
  amount_won bigint not null check (amount_won >= 100),
  government_won bigint not null check (government_won >= 0),
  incentive_won bigint not null check (incentive_won >= 0),
  normal_won bigint not null check (normal_won >= 0),
  accrued_won bigint not null check (accrued_won >= 0),
  memo text,
  cancel_id text,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null default now(),
  primary key (org_id, payment_id),
  constraint payments_split_is_whole check (government_won + incentive_won + normal_won = amount_won),
  check ((status = 'CANCELLED') = (cancel_id is not null))
);
create index payments_of_payer on payments (org_id, payer_wallet_id, payment_id);
create index payments_of_receiver on payments (org_id, receiver_wallet_id, payment_id);
