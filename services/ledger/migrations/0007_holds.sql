-- Money of a wallet set aside for an outside address: open, then posted or voided, once.
create table holds (
  org_id uuid not null,
  id uuid not null,
  request_prefix text not null,
  account_number bigint not null,
  amount_won bigint not null,
  to_address text not null,
  -- The day of Asia/Seoul whose limit it used, counted from 1970.
  limit_day integer not null,
  state text not null,
  placed_at timestamptz not null,
  settled_at timestamptz,
  constraint holds_key primary key (org_id, id),
  constraint holds_amount_positive check (amount_won > 0),
  constraint holds_state_known check (state in ('open', 'posted', 'voided')),
  constraint holds_settled_once check ((state = 'open') = (settled_at is null))
);
create index holds_open on holds (account_number) where state = 'open';
