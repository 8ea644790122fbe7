-- Partners, and the rules that every service applies to them.
create table organisations (
  org_id uuid primary key,
  code text not null,
  name text not null,
  status text not null,
  plan text not null,
  subscription_starts_at timestamptz not null,
  subscription_ends_at timestamptz not null,
  incentive_rate_bps integer not null,
  daily_transfer_limit_won bigint not null,
  daily_charge_limit_won bigint not null,
  max_charge_won bigint not null,
  rate_per_second integer not null,
  rate_burst integer not null,
  -- SHA-256 of the secret key, which is shown once and stored nowhere.
  secret_key_hash bytea not null,
  version bigint not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint organisations_code_key unique (code),
  constraint organisations_status_known check (status in ('ACTIVE', 'SUSPENDED')),
  constraint organisations_plan_known check (plan in ('FREE', 'STANDARD', 'ENTERPRISE')),
  constraint organisations_subscription_ordered check (subscription_starts_at < subscription_ends_at),
  constraint organisations_incentive_rate_range check (incentive_rate_bps between 0 and 10000),
  constraint organisations_daily_limit_range check (daily_transfer_limit_won between 0 and 9007199254740991),
  constraint organisations_daily_charge_limit_range check (daily_charge_limit_won between 0 and 9007199254740991),
  constraint organisations_max_charge_range check (max_charge_won between 0 and 9007199254740991),
  constraint organisations_rate_range check (rate_per_second between 1 and 1000000 and rate_burst between 1 and 2000000),
  constraint organisations_secret_is_sha256 check (octet_length(secret_key_hash) = 32),
  constraint organisations_version_positive check (version > 0)
);

-- Operators search by the beginning of a code or name.
create index organisations_by_code on organisations (code text_pattern_ops);
create index organisations_by_name on organisations (lower(name) text_pattern_ops);
