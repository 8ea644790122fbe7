-- The use of a plan's limits. `period` is a month of Asia/Seoul ("2025-11"), or "ever" for a quota
-- without reset.
create table quota_usages (
  org_id uuid not null references organisations,
  quota text not null,
  period text not null,
  -- The limit that applied to the last lease. A later, lower plan does not make the row invalid.
  limit_units bigint not null,
  spent_units bigint not null,
  leased_units bigint not null,
  primary key (org_id, quota, period),
  constraint quota_usages_quota_known check (quota in ('WALLETS', 'MONEY_OPERATIONS', 'RECORDED_TRANSACTIONS')),
  constraint quota_usages_not_negative check (spent_units >= 0 and leased_units >= 0),
  constraint quota_usages_within_limit check (spent_units + leased_units <= limit_units)
);

-- Units on loan to a gateway. OPEN: part of leased_units. EXPIRED: the account is missing, so all
-- units are part of spent_units. ACCOUNTED: the spent units are part of spent_units, the others
-- were returned.
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
