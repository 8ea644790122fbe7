-- Rules of each organisation for money calls, from auth's events.
create table policies (
  org_id text primary key,
  daily_limit_won bigint not null check (daily_limit_won >= 0),
  daily_charge_limit_won bigint not null check (daily_charge_limit_won >= 0),
  max_charge_won bigint not null check (max_charge_won >= 0),
  incentive_rate_bps integer not null check (incentive_rate_bps between 0 and 10000),
  version bigint not null,
  updated_at timestamptz not null default now()
);
