-- How much of a plan's limits is used. `period` is a month of Asia/Seoul ("2025-11"), or "ever" for what never resets.
create table quota_usages (
  org_id uuid not null references organisations,
  quota text not null,
  period text not null,
  -- The limit under which the last units were lent. A plan that was lowered since does not break what was right then.
  limit_units bigint not null,
  spent_units bigint not null,
  leased_units bigint not null,
  primary key (org_id, quota, period),
  constraint quota_usages_quota_known check (quota in ('WALLETS', 'MONEY_OPERATIONS', 'RECORDED_TRANSACTIONS')),
  constraint quota_usages_not_negative check (spent_units >= 0 and leased_units >= 0),
  constraint quota_usages_within_limit check (spent_units + leased_units <= limit_units)
);

-- Units on loan to a gateway. OPEN: part of leased_units. EXPIRED: no account came, all of it is part of spent_units.
-- ACCOUNTED: what was spent is part of spent_units, the rest went back.
create table quota_leases (
  org_id uuid not null,
  lease_id uuid not null,
  quota text not null,
  period text not null,
  replica_id text not null,
  state text not null,
  granted_units integer not null,
  spent_units integer,
  granted_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (org_id, lease_id),
  foreign key (org_id, quota, period) references quota_usages,
  constraint quota_leases_state_known check (state in ('OPEN', 'EXPIRED', 'ACCOUNTED')),
  constraint quota_leases_granted_positive check (granted_units > 0),
  constraint quota_leases_spent_range check (spent_units between 0 and granted_units),
  constraint quota_leases_accounted_has_spent check ((state = 'ACCOUNTED') = (spent_units is not null))
);

create index quota_leases_open on quota_leases (expires_at) where state = 'OPEN';
create index quota_leases_closed on quota_leases (expires_at) where state <> 'OPEN';
create index quota_leases_open_of_usage on quota_leases (org_id, quota, period) where state = 'OPEN';
