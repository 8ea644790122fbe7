-- Records of the ledger's journal, one row for each transfer, charge, refund, payment, and part of a
-- charge or payment that was taken back.
-- All of them can be rebuilt from the journal (npx wonrail rebuild).
-- `version` is the org_sequence of the newest entry in the row. While a rebuild has not confirmed the row, it is negative.
create table transfers (
  org_id text not null,
  transfer_id text not null,
  status text not null check (status in ('PENDING', 'COMPLETED', 'FAILED')),
  from_wallet_id text not null,
  to_wallet_address text not null,
  to_wallet_id text,
  amount_won bigint not null check (amount_won > 0),
  memo text,
  reference text,
  metadata jsonb,
  version bigint not null,
  created_at timestamptz not null,
  -- The time at which the final settlement of a PENDING transfer was seen. The job that ends holds reads these rows.
  settled_at timestamptz,
  primary key (org_id, transfer_id)
);
create index transfers_from on transfers (org_id, from_wallet_id, transfer_id);
create index transfers_to on transfers (org_id, to_wallet_id, transfer_id) where to_wallet_id is not null;
create index transfers_pending on transfers (created_at) where status = 'PENDING';
create index transfers_settled on transfers (settled_at, transfer_id) where status = 'PENDING' and settled_at is not null;
create index transfers_unconfirmed on transfers (org_id) where version < 0;

create table charges (
  org_id text not null,
  charge_id text not null,
  wallet_id text not null,
  amount_won bigint not null check (amount_won >= 1000),
  cancelled_won bigint not null,
  balance_won bigint not null,
  memo text,
  reference text,
  metadata jsonb,
  version bigint not null,
  created_at timestamptz not null,
  primary key (org_id, charge_id),
  -- The ledger decides. This constraint catches a wrong projection.
  constraint charges_not_over_cancelled check (cancelled_won between 0 and amount_won)
);
create index charges_of_wallet on charges (org_id, wallet_id, charge_id);
create index charges_unconfirmed on charges (org_id) where version < 0;

create table charge_cancels (
  org_id text not null,
  cancel_id text not null,
  charge_id text not null,
  amount_won bigint not null check (amount_won > 0),
  memo text,
  reference text,
  metadata jsonb,
  version bigint not null,
  created_at timestamptz not null,
  primary key (org_id, cancel_id)
);
create index charge_cancels_of_charge on charge_cancels (org_id, charge_id, cancel_id);
create index charge_cancels_unconfirmed on charge_cancels (org_id) where version < 0;

create table refunds (
  org_id text not null,
  refund_id text not null,
  wallet_id text not null,
  amount_won bigint not null check (amount_won > 0),
  memo text,
  reference text,
  metadata jsonb,
  version bigint not null,
  created_at timestamptz not null,
  primary key (org_id, refund_id)
);
create index refunds_unconfirmed on refunds (org_id) where version < 0;

create table payments (
  org_id text not null,
  payment_id text not null,
  payer_wallet_id text not null,
  receiver_wallet_id text not null,
  amount_won bigint not null check (amount_won >= 100),
  government_won bigint not null check (government_won >= 0),
  incentive_won bigint not null check (incentive_won >= 0),
  normal_won bigint not null check (normal_won >= 0),
  accrued_won bigint not null check (accrued_won >= 0),
  -- The sum of the payment's refunds.
  refunded_won bigint not null,
  memo text,
  reference text,
  metadata jsonb,
  -- The cancellation. All columns are null unless the payment is CANCELLED.
  cancel_id text,
  restored_incentive_won bigint,
  restored_normal_won bigint,
  clawed_back_won bigint,
  kept_won bigint,
  cancel_memo text,
  cancel_reference text,
  cancel_metadata jsonb,
  cancelled_at timestamptz,
  version bigint not null,
  created_at timestamptz not null,
  primary key (org_id, payment_id),
  -- The ledger decides. These constraints catch a wrong projection.
  constraint payments_split_is_whole check (government_won + incentive_won + normal_won = amount_won),
  constraint payments_cancel_is_whole check (
    (cancel_id is null) = (cancelled_at is null)
    and restored_incentive_won = incentive_won
    and restored_normal_won + kept_won = normal_won
    and clawed_back_won + kept_won = accrued_won),
  constraint payments_not_over_refunded check (
    refunded_won between 0 and amount_won and (cancel_id is null or refunded_won = 0))
);
create index payments_of_payer on payments (org_id, payer_wallet_id, payment_id);
create index payments_of_receiver on payments (org_id, receiver_wallet_id, payment_id);
create index payments_unconfirmed on payments (org_id) where version < 0;

create table payment_refunds (
  org_id text not null,
  refund_id text not null,
  payment_id text not null,
  amount_won bigint not null check (amount_won > 0),
  restored_incentive_won bigint not null check (restored_incentive_won >= 0),
  restored_normal_won bigint not null check (restored_normal_won >= 0),
  clawed_back_won bigint not null check (clawed_back_won >= 0),
  kept_won bigint not null check (kept_won >= 0),
  memo text,
  reference text,
  metadata jsonb,
  version bigint not null,
  created_at timestamptz not null,
  primary key (org_id, refund_id),
  constraint payment_refunds_whole check (restored_incentive_won + restored_normal_won + kept_won = amount_won)
);
create index payment_refunds_of_payment on payment_refunds (org_id, payment_id, refund_id);
create index payment_refunds_unconfirmed on payment_refunds (org_id) where version < 0;
