-- The signed authorizations, one row per leg of a ledger entry or hold. A leg keeps its nonce and
-- amount for ever; only the end may move.
create table authorizations (
  org_id text not null,
  ledger_ref text not null,
  from_wallet_id text not null,
  kind text not null check (kind in ('TRANSFER', 'BURN')),
  to_address text not null,
  nonce bytea not null check (octet_length(nonce) = 32),
  amount_won bigint not null check (amount_won > 0),
  valid_before timestamptz not null,
  signed_at timestamptz not null default now(),
  primary key (org_id, ledger_ref, from_wallet_id, kind, to_address)
);

create index authorizations_by_time on authorizations (signed_at);

-- The amount signed in each hour: per wallet, per organisation and in all.
create table velocity (
  scope text not null,
  hour timestamptz not null,
  amount_won bigint not null check (amount_won >= 0),
  primary key (scope, hour)
);

-- Every refusal to sign. Append-only.
create table signing_refusals (
  id bigint generated always as identity primary key,
  org_id text not null,
  ledger_ref text not null,
  from_wallet_id text not null,
  reason text not null,
  refused_at timestamptz not null default now()
);
