-- How far the chain is with a ledger entry or hold. No row: PENDING, so that the hot path writes nothing here.
create table settlements (
  org_id text not null,
  ledger_ref text not null,
  status text not null check (status in ('SUBMITTED', 'CONFIRMED', 'FAILED')),
  network text not null,
  tx_hash text,
  block_number bigint,
  -- The outside address, of a deposit.
  counterparty text,
  -- Of a FAILED one: the final block past validBefore in which the authorization was unused.
  failure_reason text,
  proof_block_number bigint,
  proof_block_hash text,
  updated_at timestamptz not null default now(),
  primary key (org_id, ledger_ref),
  check (status <> 'FAILED' or (failure_reason is not null and proof_block_hash is not null)),
  check (status <> 'CONFIRMED' or (tx_hash is not null and block_number is not null))
);

-- What this service needs of an organisation, from auth's events.
create table policies (
  org_id text primary key,
  daily_limit_won bigint not null check (daily_limit_won >= 0),
  incentive_rate_bps integer not null check (incentive_rate_bps between 0 and 10000),
  version bigint not null,
  updated_at timestamptz not null default now()
);
